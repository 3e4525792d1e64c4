// SPDX-License-Identifier: Apache-2.0
// Frame: what a step computes on, in plain loops over 64-bit codes. Such a loop is the definition
// of the step, which kernels and hardware must equal.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hardware/integer/fixed.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {

/// The codes of one frame of a step's inputs and output. Sum is the type of numbers that hold every
/// sum on the way to the accumulator.
template <class Sum>
class Frame {
 public:
  /// Elements of a frame of each input and of the output; `bits` of the accumulator.
  Frame(std::vector<std::int64_t> inputs, std::int64_t elements, const Requantise& requantise,
        int bits)
      : input_elements_(std::move(inputs)),
        elements_(elements),
        requantise_(requantise),
        narrow_(NarrowRequantise::of(requantise, bits)) {}

  void set(std::vector<const std::int64_t*> inputs, std::int64_t* output) {
    in_ = std::move(inputs);
    out_ = output;
  }

  /// Codes too wide for 64 bits go here instead of to the output of `set`.
  void set_exact(Wide* output) requires std::same_as<Sum, Wide> { exact_ = output; }

  std::size_t inputs() const { return in_.size(); }
  const std::int64_t* in(std::size_t input = 0) const { return in_[input]; }
  std::int64_t input_elements(std::size_t input) const { return input_elements_[input]; }
  std::int64_t elements() const { return elements_; }  ///< of the output
  /// The output, for codes that need no requantisation.
  std::int64_t* out() const { return out_; }
  /// Requantises accumulator(element) for every element of the output, in their order.
  template <class Accumulator>
  void fill(Accumulator&& accumulator) const {
    const std::int64_t elements = elements_;
    if constexpr (std::same_as<Sum, std::int64_t>) {
      std::int64_t* const out = out_;
      for (std::int64_t i = 0; i < elements; ++i) out[i] = accumulator(i);
      requantise();
    } else {
      for (std::int64_t i = 0; i < elements; ++i) put(i, accumulator(i));
    }
  }
  /// Requantises the accumulator of one element.
  void put(std::int64_t element, Sum sum) const {
    if constexpr (std::same_as<Sum, Wide>) {
      if (exact_) {
        exact_[element] = requantise_(sum);
        return;
      }
    }
    out_[element] = narrow_ ? (*narrow_)(static_cast<std::int64_t>(sum))
                            : static_cast<std::int64_t>(requantise_(sum));
  }

 private:
  /// Turns the accumulators that stand in the place of the output into its codes.
  void requantise() const {
    if (narrow_) {
      const NarrowRequantise narrow = *narrow_;  // its numbers stay in registers
      for (std::int64_t* code = out_; code != out_ + elements_; ++code) *code = narrow(*code);
    } else {
      for (std::int64_t i = 0; i < elements_; ++i) put(i, out_[i]);
    }
  }

  std::vector<std::int64_t> input_elements_;
  std::int64_t elements_;
  const Requantise& requantise_;
  std::optional<NarrowRequantise> narrow_;
  std::vector<const std::int64_t*> in_;
  std::int64_t* out_ = nullptr;
  Wide* exact_ = nullptr;
};

/// The declaration of a step whose numbers on the way to the accumulator have no more bits than the
/// accumulator.
struct SumsInAccumulator {
  int operator()(std::span<const FixedType>) const { return 0; }
};

}  // namespace mase::integer
