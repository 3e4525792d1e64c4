// SPDX-License-Identifier: Apache-2.0
// Levels: the numbers that an element format has, as fixed-point codes, and where it rounds from
// one of them to the next. Any format whose values stand alone, each rounded by itself, is such a
// staircase.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/format.hpp"
#include "hardware/integer/fixed.hpp"
#include "hardware/integer/float_code.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// From which number on the next level is taken.
struct Threshold {
  float at = 0;
  bool included = true;  ///< whether the number itself belongs to the upper level

  bool reached_by(double number) const;
  /// The least code c for which c / (divisor * 2^frac) reaches it, within [-2^125, 2^125].
  Wide least_code(int frac, std::int64_t divisor = 1) const;
};

struct Levels {
  std::string format;                 ///< its text
  FixedType type;                     ///< the least that holds all levels
  std::vector<std::int64_t> codes;    ///< of that type, ascending
  std::vector<Threshold> thresholds;  ///< one between each two levels
  std::optional<FloatCode> code;      ///< short codes of them, where there are such
  bool operator==(const Levels& other) const { return format == other.format; }

  /// The code of the level that a number is rounded to.
  std::int64_t code_of(double number) const;
  bool has(std::int64_t code) const;
  /// Whether every code of a type is a level, and so stays what it is.
  bool hold(const FixedType& from) const;
};

/// The most bits of a code whose levels are looked for one by one.
inline constexpr int most_level_bits = 8;

using Floats = std::vector<float>;

/// A format as it is asked about: by what it makes of float32 numbers, each by itself.
struct Sampled {
  std::string text;
  float most = 0;  ///< numbers from -most to most are asked about
  std::function<Floats(Floats)> quantized;
};

/// The levels among the numbers that codes stand for, with thresholds found by halving the float32
/// numbers between them. Error(Fault::unsupported) where the format is not a staircase.
Levels sampled_levels(const Sampled& format, const std::vector<double>& numbers);

/// The numbers that the codes of a format stand for; Error(Fault::unsupported) for codes of more
/// than `most_level_bits` bits.
std::vector<double> elements_of(const std::string& format, const formats::Decoding& decoding);

/// Finite float32 numbers in their order are these whole numbers in theirs; -0 and 0 are both 0.
std::int64_t place_of(float number);
float number_at(std::int64_t place);

/// Error(Fault::unsupported), which says what would do, where the format rounds elements by what
/// others are, has results that are not finite, or more than `most_level_bits` bits.
std::shared_ptr<const Levels> levels_of(const formats::Format& format);

}  // namespace mase::integer
