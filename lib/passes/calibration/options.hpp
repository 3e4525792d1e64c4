// SPDX-License-Identifier: Apache-2.0
// The options of calibration, shared by the passes `calibrate` and `quantize`.
#pragma once

#include <cstdint>
#include <string>

#include "base/field.hpp"

namespace mase::passes {

/// How a value is chosen from data. Among equally good candidates, `minmax`, `percentile` and `mse`
/// take the smallest range.
///
/// - minmax: the fewest saturated values, hence the smallest range that holds every value.
/// - percentile: the smallest range with at least `percentile` % of the values inside.
/// - mse: the least sum of (q(x) - x)^2 over every value.
/// - kl: the least Kullback-Leibler divergence of the distribution of q(x) from that of x, in
///   histograms of 2048 bins (Migacz: "8-bit Inference with TensorRT", GTC 2017).
struct CalibrationOptions {
  std::string method = "minmax";
  double percentile = 99.99;
  std::int64_t num_samples = 512;
  double saturation_warning = 0.01;

  /// `method_key` is the name of the option `method`; a pass with other options can rename it.
  static constexpr auto calibration_fields(std::string_view method_key) {
    using Options = CalibrationOptions;
    return std::tuple{
        Field{method_key, &Options::method, "how values are chosen from data"}.one_of(
            "minmax", "percentile", "mse", "kl"),
        Field{"percentile", &Options::percentile, "share of values that percentile keeps, in %"}
            .between(50, 100),
        Field{"num_samples", &Options::num_samples, "training rows that calibration runs on"}
            .at_least(1),
        Field{"saturation_warning", &Options::saturation_warning,
              "share of saturated values above which a note names the port"}
            .between(0, 1)};
  }
};

}  // namespace mase::passes
