// SPDX-License-Identifier: Apache-2.0
// TorchScript bodies of block formats: text that cuts a tensor into tiles, and pieces of text with
// which formats compute their elements.
//
// TorchScript cannot reinterpret bits and has no exact power, so powers of two come from values: a
// number divided by its significand (torch.frexp) is one. The profile `exact` computes in
// float64, where all scaling is exact, with one rounding at the end.
#pragma once

#include <cstdint>
#include <string>

#include "formats/block/block_fields.hpp"
#include "formats/scale_rule.hpp"

namespace mase::formats {

/// Statements, indented by two spaces, that define `v` (x with leading dimensions merged), the
/// sizes t0, t1, ... and numbers n0, n1, ... of tiles, and `b`: the tiles as a float32 tensor
/// [n0, t0, n1, t1, ...], filled up with zeros.
std::string tiles_text(const BlockFields& fields, bool default_skip, int rank);
/// Defines `p`, the float32 peaks of tiles [n0, 1, n1, 1, ...]; `exact` takes finite elements only.
std::string peaks_text(const BlockFields& fields, int rank);
/// The last statement, which returns the tiles `r` put together in x's shape.
std::string untiled_text(const BlockFields& fields, int rank);

/// One statement.
std::string line_text(const std::string& statement);
/// An expression for 2^exponent, which is exact within float64.
std::string power_text(int exponent);
/// Defines `s`, the float64 powers 2^(X + shift) that a rule gives for the peaks of tiles, within
/// [2^low, 2^high]; tiles of zeros get 2^zero_exponent.
std::string scales_text(ScaleRule rule, const ElementTop& top, int shift, int low, int high,
                        int zero_exponent);
/// Defines `f` and `w`: positive float64 values are f * w, where f is in [1/2, 1) and w is a power.
std::string significand_text(const std::string& values);
/// An expression for float64 values rounded to integers.
std::string rounded_text(Rounding rounding, const std::string& values);
/// An expression for the exponent of a float32 tensor v: RN32(log2 v), rounded by `round` and
/// clamped to [low, high].
std::string reference_exponent_text(float (*round)(float), int low, int high,
                                    const std::string& values);
/// An expression for 2^E in float32, including 0 and infinity, for int64 exponents.
std::string reference_power_text(const std::string& exponents);

}  // namespace mase::formats
