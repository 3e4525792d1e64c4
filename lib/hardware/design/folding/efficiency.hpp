// SPDX-License-Identifier: Apache-2.0
// How much of the time a design's multipliers work.
#pragma once

#include <cstdint>
#include <optional>

#include "hardware/design/design.hpp"

namespace mase::design {

/// Multiplications of one layer: those that a frame asks for and those that a cycle can do.
struct Products {
  std::int64_t per_frame = 0, per_cycle = 0;
  /// Share of the cycles between two frames that the multipliers are busy in, 0 to 1.
  double efficiency(std::int64_t interval) const {
    return static_cast<double>(per_frame) /
           (static_cast<double>(per_cycle) * static_cast<double>(interval));
  }
};

/// The products of a matrix product or convolution; nullopt for any other step.
std::optional<Products> products_of(const integer::Program& program, const integer::Step& step,
                                    const Fold& fold);

/// The efficiency of the slowest quarter of the layers that have products, at the design's
/// interval: busy multipliers by all of them. Nothing for a design without products.
std::optional<double> slowest_efficiency(const Design& design);

}  // namespace mase::design
