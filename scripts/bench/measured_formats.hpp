// SPDX-License-Identifier: Apache-2.0
// The formats that benchmarks of quantization measure.
#pragma once

#include <string>
#include <vector>

namespace mase {

/// Formats for which quantizing, encoding and decoding are measured.
inline const std::vector<std::string> measured_formats{
    "integer(8, 4)",
    "integer(4, 2)",
    "integer_floor(8, 4)",
    "fixed(8, 4)",
    "binary",
    "ternary(threshold=0.25)",
    "minifloat_ieee(8, 4)",
    "minifloat_denorm(8, 4)",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp6_e3m2",
    "fp6_e2m3",
    "fp4_e2m1",
    "log(8)",
    "block_fp(8, 8)",
    "block_minifloat(8, 4, 8, skip_first_dim=true)",
    "block_log(8, 8, skip_first_dim=true)",
    "mxint8",
    "mxint4",
    "mxfp8_e4m3",
    "mxfp8_e5m2",
    "mxfp6_e3m2",
    "mxfp6_e2m3",
    "mxfp4",
    "nvfp4",
};

}  // namespace mase
