// SPDX-License-Identifier: Apache-2.0
// The random numbers of stochastic rounding while training: functions of seed, step and place, so
// that they depend on neither threads nor stops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "formats/format.hpp"

namespace mase::libtorch {

/// What is rounded at a place of a network.
enum class Rounded : std::uint8_t { data, parameter, gradient, update };

/// A number for a place of a network, a port of a node, by which it draws its own random numbers.
std::uint64_t place_number(const std::string& node, const std::string& port);

/// How the batch in progress rounds. The numbers of an element are a function of `seed`, `step`,
/// `batch`, the place, what is rounded there and the element's index; those of a parameter are the
/// same for all batches of a step.
struct TrainingRounding {
  std::uint64_t seed = 0;                   ///< of the training
  std::int64_t step = 0;                    ///< of the optimiser
  std::int64_t batch = 0;                   ///< within the step
  std::optional<formats::Format> gradient;  ///< of gradients, where values have formats

  /// `format` with these random numbers; `item` counts tensors that share a place (a list's).
  formats::Format at(const formats::Format& format, std::uint64_t place, Rounded what,
                     std::int64_t item = 0) const;
};

}  // namespace mase::libtorch
