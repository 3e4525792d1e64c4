// SPDX-License-Identifier: Apache-2.0
// TorchScript bodies of block formats: cutting a tensor into tiles, and pieces of text that formats
// compute their elements with.
//
// TorchScript neither reinterprets bits nor has an exact power, so powers of two come from values:
// a number divided by its significand (torch.frexp) is one. The profile `exact` computes in
// float64, where all scaling is exact, with one rounding at the end.
#pragma once

#include <cstdint>
#include <string>

#include "formats/block/block_fields.hpp"
#include "formats/scale_rule.hpp"

namespace mase::formats {

/// Statements, two spaces in front of each, that define `v` (x with leading dimensions merged), the
/// sizes t0, t1, ... of tiles and n0, n1, ... of their numbers, and `b`: the tiles as a float32
/// tensor [n0, t0, n1, t1, ...], filled up with zeros.
std::string tiles_text(const BlockFields& fields, bool default_skip, int rank);
/// Defines `p`, the float32 peaks of tiles [n0, 1, n1, 1, ...]. `exact`: over the finite elements.
std::string peaks_text(const BlockFields& fields, int rank);
/// The last statement: returns the tiles `r` put together in x's shape.
std::string untiled_text(const BlockFields& fields, int rank);

/// One statement.
std::string line_text(const std::string& statement);
/// An expression: 2^exponent, exactly, within float64.
std::string power_text(int exponent);
/// Defines `s`, the float64 powers 2^(X + shift) that a rule gives the peaks of tiles, within
/// [2^low, 2^high]; 2^zero_exponent for tiles of zeros.
std::string scales_text(ScaleRule rule, const ElementTop& top, int shift, int low, int high,
                        int zero_exponent);
/// Defines `f` and `w`: positive float64 values are f * w with f in [1/2, 1) and a power w.
std::string significand_text(const std::string& values);
/// An expression: a float64 value rounded to integers.
std::string rounded_text(Rounding rounding, const std::string& values);
/// An expression: the exponent of RN32(log2 v), rounded by `round`, of a float32 tensor within
/// [low, high].
std::string reference_exponent_text(float (*round)(float), int low, int high,
                                    const std::string& values);
/// An expression: 2^E in float32, 0 and infinity included, of int64 exponents.
std::string reference_power_text(const std::string& exponents);

}  // namespace mase::formats
