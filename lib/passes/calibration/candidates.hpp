// SPDX-License-Identifier: Apache-2.0
// The values of a format's free field that calibration tries.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/format.hpp"

namespace mase::passes {

/// The free field that places the binary point: the fraction bits of a code.
inline constexpr std::string_view binary_point = "frac_width";

/// The fields that bound the exponents which blocks share; data can decide them, too.
inline constexpr std::string_view exponent_min = "exponent_min", exponent_max = "exponent_max";

/// Whether a field of this row may be "auto": the calibrated one, or a bound on exponents.
bool can_be_auto(const formats::FormatRow& row, std::string_view field);

/// One value of the free field, and the format with this value.
struct Candidate {
  Tree value;
  formats::Format format;
  double reach;  ///< largest magnitude that the format represents
};

/// The field, "tensor" or "channel", of formats in which the calibrated field can have one value
/// per channel.
inline constexpr std::string_view granularity_field = "granularity";

/// The field of a format's row that calibration may choose; null when it may choose no field.
const FieldInfo* calibrated_field(const formats::FormatRow& row);

/// `format` with each value worth trying for a tensor whose largest magnitude is `largest` > 0:
/// - an integer field, whose reach falls as the integer grows: the values with a reach between
///   largest / 1024 and 4 * largest (the
///   range is not symmetric: 2 * largest would miss the one that holds `largest` above 0), or the
///   one with the nearest reach when no value has such a reach;
/// - a field with choices: every choice;
/// - a field that is a real number, to which the reach is proportional: the values with a reach of
///   j/16 of `largest`, j = 1 .. 17.
/// Sorted by reach, then in the order of the field. Never empty.
std::vector<Candidate> candidates(const formats::Format& format, double largest);

/// Formats made before from one format, by the integer in its field; nullopt where none exists.
using MadeCandidates = std::map<std::int64_t, std::optional<Candidate>>;

/// The same, for many tensors that ask for the same few integers: `made` is kept between calls with
/// the same format.
std::vector<Candidate> candidates(const formats::Format& format, double largest,
                                  MadeCandidates& made);

/// The format with one field set; nullopt when no such format exists.
std::optional<formats::Format> with_field(const formats::Format& format, const std::string& field,
                                          const Tree& value);

}  // namespace mase::passes
