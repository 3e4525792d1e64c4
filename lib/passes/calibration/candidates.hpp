// SPDX-License-Identifier: Apache-2.0
// The values that calibration tries for a format's free field.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "formats/format.hpp"

namespace mase::passes {

/// The free field that places the binary point: the fraction bits of a code.
inline constexpr std::string_view binary_point = "frac_width";

/// One value of the free field and the format that has it.
struct Candidate {
  Tree value;
  formats::Format format;
  double reach;  ///< largest magnitude that the format represents
};

/// The field of formats that can have a value of the calibrated field for every channel: "tensor"
/// or "channel".
inline constexpr std::string_view granularity_field = "granularity";

/// The field of a format's row that calibration may choose; null when there is none.
const FieldInfo* calibrated_field(const formats::FormatRow& row);

/// `format` with the values worth trying for a tensor whose largest magnitude is `largest` > 0:
/// - a field of integers, in which the reach falls as they grow: those whose reach lies between
/// largest / 1024 and 4 * largest (the
///   range is not symmetric: twice would miss the one that holds `largest` above 0), else the one
///   with the nearest reach;
/// - a field with choices: each of them;
/// - a number: those whose reach is j/16 of `largest`, j = 1 .. 17, the reach being proportional to
///   the number.
/// Sorted by reach, then in the order of the field. Never empty.
std::vector<Candidate> candidates(const formats::Format& format, double largest);

/// The format with one field set, if there is such a format.
std::optional<formats::Format> with_field(const formats::Format& format, const std::string& field,
                                          const Tree& value);

}  // namespace mase::passes
