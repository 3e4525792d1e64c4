// SPDX-License-Identifier: Apache-2.0
// Lines through some inputs of each piece. Between two of them a smooth function leaves its chord
// by at most a quarter of the distance of the middle one of three from the chord of the others, and
// a kink by no more than this distance; where it jumps, the distance is half of the jump. So this
// distance is a bound for what lies between the inputs that are looked at.
#include "hardware/integer/lowering/fit_octaves.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hardware/integer/lowering/best_line.hpp"
#include "hardware/integer/lowering/fit_piecewise.hpp"

namespace mase::integer {
namespace {

/// Into so many parts the inputs of a piece are divided; a piece of fewer inputs has all of them.
constexpr Wide parts_of_piece = 32;

struct Sample {
  Point point;
  double exact = 0;  ///< the place before it is clamped
};

/// Evenly between the ends, in ascending order of l.
Codes evenly_between(const Interval& codes, Wide parts) {
  Codes even;
  const Wide span = codes.high - codes.low;
  parts = std::min(parts, span);
  for (Wide i = 0; i <= parts; ++i)
    even.push_back(static_cast<std::int64_t>(codes.low + (parts > 0 ? span * i / parts : 0)));
  if (codes.low < 0) std::ranges::reverse(even);
  return even;
}

/// A shape of a table: how many bits of the input's octave and of the place in it.
struct OctaveShape {
  int octave_bits, piece_bits;
};

class OctaveFit {
 public:
  OctaveFit(const OctaveTarget& target, const OctaveShape& shape)
      : target_(target),
        low_(static_cast<double>(target.range.low)),
        high_(static_cast<double>(target.range.high)) {
    OctavePieces& table = fitted_.table;
    table.function = target.function;
    table.input = target.input;
    table.octave_bits = shape.octave_bits;
    table.piece_bits = shape.piece_bits;
    // A line that crosses half of the range in one of 2^piece_bits pieces rises by a sixteenth of
    // the last place in a unit of l.
    const int range_bits = signed_width(target.range.low, target.range.high);
    table.low_bits = std::clamp(range_bits + guard_bits - shape.piece_bits, 1,
                                std::min(table.magnitude_bits() - shape.piece_bits, most_low_bits));
    fitted_.frac = table.low_bits + guard_bits;
  }

  /// Stops where the error is above `most`.
  FittedOctaves fit(double most) {
    OctavePieces& table = fitted_.table;
    for (std::size_t piece = 0; piece < table.pieces() && table.largest_error <= most; ++piece)
      append(table.inputs(piece));
    const auto [low, high] = std::ranges::minmax(table.slope);
    table.slope_type = type_for(low, high, 0);
    return std::move(fitted_);
  }

 private:
  /// 16 bits are as many as a DSP block multiplies by, beside a sign.
  static constexpr int most_low_bits = 16;

  Sample sample(std::int64_t code) const {
    const double exact = target_.place(code);
    return {{fitted_.table.place(code).low, std::clamp(exact, low_, high_)}, exact};
  }

  void append(const Interval& inputs) {
    OctavePieces& table = fitted_.table;
    std::vector<Sample> samples;
    std::vector<Point> points;
    if (inputs.low <= inputs.high)
      for (const std::int64_t code : evenly_between(inputs, parts_of_piece)) {
        samples.push_back(sample(code));
        points.push_back(samples.back().point);
      }
    const Line line = points.empty() ? Line{} : best_line(points, target_.range, fitted_.frac);
    table.slope.push_back(line.slope);
    table.base.push_back(line.base);
    double between = 0;
    if (inputs.high - inputs.low > parts_of_piece) between += bend(samples);
    if (inputs.high - inputs.low >= Wide{1} << table.low_bits) between += rise(line);
    double largest = 0;
    for (const Point& point : points)
      largest = std::max(largest, (error(line, point) + between) / target_.unit(point.place));
    table.largest_error = std::max(table.largest_error, largest);
  }

  /// The error of the line, and that of rounding.
  double error(const Line& line, const Point& point) const {
    const Wide sum = line.base + Wide{line.slope} * point.low;
    const double place = std::ldexp(static_cast<double>(sum), -fitted_.frac) - 0.5;
    return std::abs(std::clamp(place, low_, high_) - point.place) + 0.5;
  }

  /// In a unit of l: what bits that are dropped change.
  double rise(const Line& line) const {
    return std::ldexp(std::abs(static_cast<double>(line.slope)), -fitted_.frac);
  }

  /// The largest distance of a sample from the chord of its neighbours. Where all three are beyond
  /// a bound, there is none.
  double bend(const std::vector<Sample>& samples) const {
    double most = 0;
    for (std::size_t i = 2; i < samples.size(); ++i) {
      const double a = samples[i - 2].exact, b = samples[i - 1].exact, c = samples[i].exact;
      if (std::min({a, b, c}) >= high_ || std::max({a, b, c}) <= low_) continue;
      const double distance = std::abs(a - 2 * b + c) / 2;
      if (std::isnan(distance)) return std::numeric_limits<double>::infinity();
      most = std::max(most, distance);
    }
    return most;
  }

  const OctaveTarget& target_;
  double low_, high_;
  FittedOctaves fitted_;
};

/// Those with so many bits of pieces, the fewest octaves first.
std::vector<OctaveShape> shapes_of(const FixedType& input, int bits) {
  const int magnitude_bits = input.width - (input.is_signed ? 1 : 0);
  std::vector<OctaveShape> shapes;
  // Octaves below the last bit have no inputs.
  const int most = std::bit_width(static_cast<unsigned>(magnitude_bits));
  for (int octave_bits = 2; octave_bits <= std::min(most, bits - 1); ++octave_bits)
    shapes.push_back({octave_bits, bits - octave_bits});
  return shapes;
}

/// The largest error of the results of all inputs.
double measured_error(const OctaveTarget& target, const FittedOctaves& fitted) {
  const Requantise requantise = piecewise_requantise(fitted.frac, target.range);
  const auto low = static_cast<double>(target.range.low);
  const auto high = static_cast<double>(target.range.high);
  double largest = 0;
  for (Wide code = target.input.low(); code <= target.input.high(); ++code) {
    const auto input = static_cast<std::int64_t>(code);
    const auto result = static_cast<double>(requantise(fitted.table(input)));
    const double place = std::clamp(target.place(input), low, high);
    largest = std::max(largest, std::abs(result - place) / target.unit(place));
  }
  return largest;
}

FittedOctaves fitted_within(const OctaveTarget& target) {
  const int most_bits = most_segment_bits - (target.input.is_signed ? 1 : 0);
  FittedOctaves best;
  best.table.largest_error = std::numeric_limits<double>::infinity();
  for (int bits = 3; bits <= most_bits; ++bits)
    for (const OctaveShape& shape : shapes_of(target.input, bits)) {
      const double most = bits < most_bits ? target.most_error : best.table.largest_error;
      FittedOctaves fitted = OctaveFit(target, shape).fit(most);
      if (fitted.table.largest_error <= target.most_error) return fitted;
      if (fitted.table.largest_error <= most) best = std::move(fitted);
    }
  return best;
}

}  // namespace

FittedOctaves fit_octaves(const OctaveTarget& target) {
  FittedOctaves fitted = fitted_within(target);
  if (target.input.width <= measured_bits)
    fitted.table.largest_error = measured_error(target, fitted);
  return fitted;
}

Codes codes_of_octaves(const FixedType& type) {
  Codes codes{0};
  const auto see = [&](Wide bound, Wide sign) {
    for (Wide high = bound; high != 0; high /= 2)
      for (const std::int64_t code : evenly_between({high / 2 + 1, high}, parts_of_piece))
        codes.push_back(static_cast<std::int64_t>(sign * code));
  };
  see(type.high(), 1);
  see(-type.low(), -1);
  return codes;
}

}  // namespace mase::integer
