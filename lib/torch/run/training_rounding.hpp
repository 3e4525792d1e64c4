// SPDX-License-Identifier: Apache-2.0
// Random numbers for stochastic rounding in training. They are functions of seed, step and place,
// so that they depend neither on threads nor on interruptions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/format.hpp"

namespace mase::libtorch {

/// What is rounded at a place of a network.
enum class Rounded : std::uint8_t { data, parameter, gradient, update };

/// A number for a place (a port of a node) in a network, so that it has its own random numbers.
std::uint64_t place_number(const std::string& node, const std::string& port);

/// The sizes of data and of its gradients; nothing for parameters and theirs.
using RoundedSizes = std::optional<std::span<const std::int64_t>>;

/// How the current batch rounds. The random numbers of an element are a function of `seed`, `step`,
/// `batch`, the place, the kind of value and the element's index. Those of a parameter are the same
/// for all batches of a step. Where a batch has parts (batch_parts.hpp), rows that lie in the first
/// dimension have the numbers that they have in the whole batch; other data, and the gradients of
/// parameters, have numbers of their own in each part.
struct TrainingRounding {
  std::uint64_t seed = 0;                   ///< seed of the training
  std::int64_t step = 0;                    ///< optimiser step
  std::int64_t batch = 0;                   ///< batch in the step
  std::int64_t part = 0, parts = 1;         ///< the part of the batch, of so many
  std::optional<formats::Format> gradient;  ///< for gradients at ports with formats

  /// `format` with these random numbers. `item` numbers tensors of a list, which share a place.
  formats::Format at(const formats::Format& format, std::uint64_t place, Rounded what,
                     const RoundedSizes& sizes = {}, std::int64_t item = 0) const;
};

}  // namespace mase::libtorch
