// SPDX-License-Identifier: Apache-2.0
// Finding the levels of a format from its own definition: by what it does to float32 numbers.
#include "hardware/integer/levels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "base/error.hpp"

namespace mase::integer {
std::int64_t place_of(float number) {
  const auto magnitude = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(std::abs(number)));
  return std::signbit(number) ? -magnitude : magnitude;
}

float number_at(std::int64_t place) {
  const float magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(std::abs(place)));
  return place < 0 ? -magnitude : magnitude;
}

namespace {

[[noreturn]] void refuse(const std::string& format, const std::string& reason) {
  unsupported_error("format '" + format + "' " + reason);
}

}  // namespace

std::vector<double> elements_of(const std::string& format, const formats::Decoding& decoding) {
  if (decoding.bits > most_level_bits)
    refuse(format, "has codes of " + std::to_string(decoding.bits) +
                       " bits; element formats of at most " + std::to_string(most_level_bits) +
                       " bits have a datapath, and 'integer' of up to 32");
  if (!decoding.elements.empty()) return decoding.elements;
  std::vector<double> numbers;
  const std::int64_t count = std::int64_t{1} << decoding.bits;
  const std::int64_t first = decoding.is_signed ? -count / 2 : 0;
  for (std::int64_t code = first; code < first + count; ++code)
    numbers.push_back(static_cast<double>(code) * decoding.step);
  return numbers;
}

namespace {

/// Those of the numbers that the format rounds to themselves, ascending, each once.
Floats fixed_points(const Sampled& format, const std::vector<double>& numbers) {
  Floats levels;
  for (const double number : numbers)
    if (std::abs(number) <= static_cast<double>(format.most))
      levels.push_back(static_cast<float>(number) + 0.0F);  // -0 is 0
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  const Floats rounded = format.quantized(levels);
  Floats kept;
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (levels[i] == rounded[i]) kept.push_back(levels[i]);
  return kept;
}

void check_ends(const Sampled& format, const Floats& levels) {
  const Floats ends = format.quantized({-format.most, format.most});
  if (levels.size() < 2 || ends[0] != levels.front() || ends[1] != levels.back())
    refuse(format.text,
           "overflows to infinity or NaN, which has no datapath; "
           "saturate = true has one");
}

/// The least float32 numbers that are rounded to each of the levels but the first.
Floats first_numbers(const Sampled& format, const Floats& levels) {
  std::vector<std::int64_t> below, from;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    below.push_back(place_of(levels[i - 1]));
    from.push_back(place_of(levels[i]));
  }
  const auto apart = [&](std::size_t i) { return from[i] - below[i] > 1; };
  const auto middle = [&](std::size_t i) { return below[i] + (from[i] - below[i]) / 2; };
  for (int halvings = 0; halvings < 33; ++halvings) {
    Floats tried;
    for (std::size_t i = 0; i < from.size(); ++i)
      tried.push_back(number_at(apart(i) ? middle(i) : from[i]));
    const Floats found = format.quantized(tried);
    for (std::size_t i = 0; i < from.size(); ++i)
      if (apart(i)) (found[i] >= levels[i + 1] ? from[i] : below[i]) = middle(i);
  }
  Floats numbers;
  for (const std::int64_t place : from) numbers.push_back(number_at(place));
  return numbers;
}

/// A format that gives a smaller number for a larger one is not a staircase: on both sides of every
/// threshold, and between it and the next, it must give the level there.
void check_ascending(const Sampled& format, const Floats& levels, const Floats& firsts) {
  Floats tried, wanted;
  const auto add = [&](float number, float level) {
    tried.push_back(number);
    wanted.push_back(level);
  };
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    add(std::nextafter(firsts[i], -std::numeric_limits<float>::infinity()), levels[i]);
    add(firsts[i], levels[i + 1]);
    if (i > 0) add(firsts[i - 1] + (firsts[i] - firsts[i - 1]) / 2, levels[i]);
  }
  if (format.quantized(tried) != wanted)
    refuse(format.text, "gives smaller numbers for larger ones, which has no datapath for data");
}

/// Numbers between two float32 numbers, which the definition leaves open, belong to the upper
/// level where the lower of the two is a tie, half way between the levels.
Threshold threshold_at(float first, float lower_level, float upper_level) {
  const float before = std::nextafter(first, -std::numeric_limits<float>::infinity());
  const double half = (static_cast<double>(lower_level) + static_cast<double>(upper_level)) / 2;
  if (static_cast<double>(before) == half) return {before, false};
  return {first, true};
}

/// The levels as codes of the least type that holds them.
void set_codes(Levels& levels, const Sampled& format, const Floats& numbers) {
  int frac = std::numeric_limits<int>::min();
  for (const float number : numbers)
    if (number != 0) frac = std::max(frac, fraction_bits(number));
  const double scale = std::ldexp(1.0, frac);
  const double low = numbers.front() * scale, high = numbers.back() * scale;
  if (std::max(-low, high) >= std::ldexp(1.0, stream_bits - 1)) {
    int bits = 0;
    std::frexp(std::max(-low, high), &bits);
    refuse(format.text, "is fixed point of " + std::to_string(bits + 1) + " bits, more than the " +
                            std::to_string(stream_bits) +
                            " of a stream; fewer bits of exponent have a datapath");
  }
  for (const float number : numbers)
    levels.codes.push_back(static_cast<std::int64_t>(number * scale));
  levels.type = type_for(levels.codes.front(), levels.codes.back(), frac);
  levels.code = FloatCode::shortest(levels.codes, most_level_bits);
}

}  // namespace

bool Threshold::reached_by(double number) const {
  return included ? number >= static_cast<double>(at) : number > static_cast<double>(at);
}

Wide Threshold::least_code(int frac, std::int64_t divisor) const {
  constexpr int most_bits = 125;
  int exponent = 0;
  const float mantissa = std::frexp(at, &exponent);
  // at * divisor * 2^frac = whole * 2^shift.
  const Wide whole = Wide{static_cast<std::int64_t>(std::ldexp(mantissa, 24))} * divisor;
  const int shift = exponent - 24 + frac;
  const Wide one = included ? 0 : 1;
  if (whole == 0) return one;
  if (shift < 0) {  // the next whole number up, or above
    const int places = std::min(-shift, most_bits);
    const Wide floor = whole >> places;
    const bool exact = (floor << places) == whole;
    return exact ? floor + one : floor + 1;
  }
  const Wide most = Wide{1} << most_bits;
  if (signed_width(whole, whole) + shift > most_bits) return whole < 0 ? -most : most;
  return (whole << shift) + one;
}

std::int64_t Levels::code_of(double number) const {
  const auto reached = [&](const Threshold& threshold) { return threshold.reached_by(number); };
  const auto next = std::ranges::partition_point(thresholds, reached);
  return codes[static_cast<std::size_t>(next - thresholds.begin())];
}

bool Levels::has(std::int64_t code) const { return std::ranges::binary_search(codes, code); }

bool Levels::hold(const FixedType& from) const {
  const int shift = type.frac - from.frac;
  const auto count = static_cast<Wide>(codes.size());
  if (from.high() - from.low() >= count || shift < 0 || shift >= stream_bits) return false;
  for (Wide code = from.low(); code <= from.high(); ++code) {
    const Wide aligned = code << shift;
    if (aligned < type.low() || aligned > type.high() || !has(static_cast<std::int64_t>(aligned)))
      return false;
  }
  return true;
}

Levels sampled_levels(const Sampled& format, const std::vector<double>& numbers) {
  const Floats levels = fixed_points(format, numbers);
  check_ends(format, levels);
  Levels found{format.text, {}, {}, {}, {}};
  const Floats firsts = first_numbers(format, levels);
  check_ascending(format, levels, firsts);
  for (std::size_t i = 0; i < firsts.size(); ++i)
    found.thresholds.push_back(threshold_at(firsts[i], levels[i], levels[i + 1]));
  set_codes(found, format, levels);
  return found;
}

namespace {

std::shared_ptr<const Levels> find_levels(const formats::Format& format) {
  const auto decoding = format.decoding({1});
  using Scales = formats::Decoding::Scales;
  if (!decoding || decoding->tiling || decoding->scales != Scales::none)
    refuse(format.text(),
           std::string("scales elements by what their neighbours are, which has a datapath only "
                       "for weights that stay; ") +
               (format.fields().find("scaled") ? "scaled" : "scaling_factor") +
               " = false has one for all");
  const auto quantized = [&](Floats numbers) {
    format.quantize(numbers, numbers, {static_cast<std::int64_t>(numbers.size())});
    return numbers;
  };
  const Sampled sampled{format.text(), std::numeric_limits<float>::max(), quantized};
  return std::make_shared<const Levels>(
      sampled_levels(sampled, elements_of(format.text(), *decoding)));
}

}  // namespace

// Lowering asks for the same few formats again at every port, and a search at every trial.
std::shared_ptr<const Levels> levels_of(const formats::Format& given) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Levels>> known;
  const formats::Format format = given.deterministic();
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Levels>& levels = known[format.text()];
  if (!levels) levels = find_levels(format);
  return levels;
}

}  // namespace mase::integer
