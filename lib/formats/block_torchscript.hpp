// TorchScript bodies of block formats: cutting a tensor into tiles, and pieces of text that formats
// compute their elements with.
//
// Powers of two are made from the bits of float64, exponents are read from them, and the profile
// `exact` computes in float64, where all scaling is exact, with one rounding at the end.
#pragma once

#include <cstdint>
#include <string>

#include "formats/block_fields.hpp"
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
/// An expression: the int64 exponents of float64 values; -1023 for zeros.
std::string exponent_text(const std::string& values);
/// An expression: float64 powers of two of int64 exponents from -1022 to 1023.
std::string power_text(const std::string& exponents);
/// Defines `e`, the exponents that a rule gives the tiles' peaks before clamping, `shift` more.
std::string scale_exponents_text(ScaleRule rule, const ElementTop& top, int shift);
/// An expression: a float64 value rounded to integers.
std::string rounded_text(Rounding rounding, const std::string& values);
/// An expression: the exponent of RN32(log2 v), rounded by `round`, of a float32 tensor within
/// [low, high].
std::string mase_exponent_text(float (*round)(float), int low, int high, const std::string& values);
/// Error(Fault::unsupported) for stochastic rounding.
void refuse_stochastic(Rounding rounding);

}  // namespace mase::formats
