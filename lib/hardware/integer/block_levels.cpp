// SPDX-License-Identifier: Apache-2.0
// Finding the levels of a block format from its own definition: by what it does to blocks of zeros
// with one or two other elements.
#include "hardware/integer/block_levels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "hardware/integer/lowering/floor_divide.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {
namespace {

constexpr float most_float = std::numeric_limits<float>::max();
/// Elements are asked about at the greatest exponent, where they saturate, unless it is above this.
constexpr int most_exponent = 60;
/// Scales with more mantissas than this are as good as any numbers.
constexpr std::size_t most_mantissas = 16;

[[noreturn]] void refuse(const formats::Format& format, const std::string& reason) {
  unsupported_error("format '" + format.text() + "' " + reason);
}

/// A format with another value of a field; nullopt where the format has no such value.
std::optional<formats::Format> with_field(const formats::Format& format, const char* field,
                                          Tree value) {
  formats::FormatFields read = formats::read_format(format.text());
  read.fields[field] = std::move(value);
  Diagnostics ignored;
  return read.row->make(read.fields, ignored);
}

/// A format with blocks of two elements of a row: levels do not depend on the size of blocks.
formats::Format with_pairs(formats::Format format) {
  const Tree fields = format.fields();
  Tree pair = Tree::list();
  pair.push_back(2);
  const bool has_lines = fields.find("block_dim") != nullptr;
  const std::pair<const char*, Tree> changes[] = {{"parallelism", pair},
                                                  {"block_dim", -1},
                                                  {"block_size", has_lines ? Tree(2) : pair},
                                                  {"skip_first_dim", true}};
  for (const auto& [field, value] : changes) {
    if (!fields.find(field)) continue;
    const auto changed = with_field(format, field, value);
    MASE_CHECK(changed, "a format has no blocks of two");
    format = *changed;
  }
  return format;
}

/// A block format as it is asked about.
class Probe {
 public:
  explicit Probe(const formats::Format& format) : format_(with_pairs(format)) {
    const auto decoding = format_.decoding(shape_);
    using Scales = formats::Decoding::Scales;
    if (!decoding || !decoding->tiling || decoding->scales == Scales::of_tiles ||
        decoding->factors.empty())
      refuse(format,
             "has scales that no exponent stands for, which have a datapath only for weights that "
             "stay; 'mxint' and 'mxfp' have exponents");
    factors_ = decoding->factors;
    read_factors(format);
    elements_ = elements_of(format.text(), *decoding);
    blocks_ = blocks_of(format_, shape_);
    numbers_.resize(static_cast<std::size_t>(numel(shape_)));
    if (encoded(1.0F).scales != encoded(1000.0F).scales)
      refuse(format,
             "has a scale that follows from all elements of a tensor, which has a datapath only "
             "for weights that stay");
  }

  int mantissas() const { return static_cast<int>(mantissas_.size()); }
  /// The scales of the smallest and of the largest number, which may be fewer than have a code.
  int least() { return scale(std::numeric_limits<float>::denorm_min()); }
  int greatest() { return scale(most_float); }

  /// The scale of a block with this greatest magnitude, by its number.
  int scale(float peak) { return scales_[encoded(peak).shared.unpack().front()]; }

  /// The numbers that elements of such a block can be.
  std::vector<double> numbers(float peak) {
    std::vector<double> elements = elements_;
    const formats::Encoded found = encoded(peak);
    const double of_tensor = found.scales.empty() ? 1.0 : static_cast<double>(found.scales.front());
    const auto factor = static_cast<float>(factors_[found.shared.unpack().front()] * of_tensor);
    for (double& element : elements)
      element = static_cast<double>(static_cast<float>(element * static_cast<double>(factor)));
    return elements;
  }

  /// What becomes of numbers beside another one in their block.
  Floats beside(float other, const Floats& numbers) {
    Floats results;
    for (std::size_t first = 0; first < numbers.size(); first += blocks_.size()) {
      const std::size_t count = std::min(blocks_.size(), numbers.size() - first);
      std::ranges::fill(numbers_, 0.0F);
      for (std::size_t i = 0; i < count; ++i) {
        numbers_[at(blocks_[i][0])] = numbers[first + i];
        numbers_[at(blocks_[i][1])] = other;
      }
      format_.quantize(numbers_, numbers_, shape_);
      for (std::size_t i = 0; i < count; ++i) results.push_back(numbers_[at(blocks_[i][0])]);
    }
    return results;
  }

 private:
  formats::Encoded encoded(float peak) {
    std::ranges::fill(numbers_, 0.0F);
    for (const auto& block : blocks_) numbers_[at(block[0])] = peak;
    return format_.encode(numbers_, shape_);
  }

  void read_factors(const formats::Format& format) {
    const auto is_scale = [](double factor) { return std::isfinite(factor) && factor > 0; };
    int exponent = 0;
    for (const double factor : factors_)
      if (is_scale(factor)) mantissas_.insert(std::frexp(factor, &exponent));
    if (mantissas_.size() > most_mantissas)
      refuse(format,
             "has scales of many mantissas, which have a datapath only for weights that stay; "
             "'mxfp4' has exponents");
    for (const double factor : factors_) {
      const double mantissa = is_scale(factor) ? std::frexp(factor, &exponent) : 0.5;
      if (!is_scale(factor)) exponent = 0;
      const auto below = std::distance(mantissas_.begin(), mantissas_.lower_bound(mantissa));
      scales_.push_back((exponent - 1) * mantissas() + static_cast<int>(below));
    }
  }

  formats::Format format_;
  std::vector<double> elements_;
  std::vector<double> factors_;  ///< by shared code
  std::set<double> mantissas_;   ///< of the factors
  std::vector<int> scales_;      ///< by shared code
  Shape shape_{64, 2};
  Floats numbers_;
  std::vector<std::vector<std::int64_t>> blocks_;
};

/// The least magnitude with at least this scale.
float first_peak(Probe& probe, int scale) {
  std::int64_t below = 0, from = place_of(most_float);
  while (from - below > 1) {
    const std::int64_t middle = below + (from - below) / 2;
    (probe.scale(number_at(middle)) >= scale ? from : below) = middle;
  }
  return number_at(from);
}

/// The rule names one of the two float32 numbers between which the scale changes: the rounder.
Threshold turn_at(float first) {
  const float before = std::nextafter(first, 0.0F);
  const auto zeros = [](float number) {
    return std::countr_zero(std::bit_cast<std::uint32_t>(number) | (1U << 23));
  };
  if (zeros(before) > zeros(first)) return {before, false};
  return {first, true};
}

Threshold scaled(const Threshold& threshold, int exponent) {
  return {std::ldexp(threshold.at, exponent), threshold.included};
}

/// The least float32 number that reaches a threshold.
float first_of(const Threshold& threshold) {
  return threshold.included ? threshold.at : std::nextafter(threshold.at, most_float);
}

/// The rule is the same for all exponents that float32 numbers can ask for.
void check_scales(Probe& probe, const BlockLevels& levels) {
  for (int scale = levels.least + 1; scale <= levels.greatest; ++scale) {
    if (std::abs(levels.exponent(scale)) > 100) continue;
    const float first = first_of(levels.turn(scale));
    if (probe.scale(first) != scale || probe.scale(std::nextafter(first, 0.0F)) != scale - 1)
      refuse(levels.format,
             "has scales that do not follow the greatest magnitude by powers of two, which has "
             "no datapath; profile = \"exact\" has one");
  }
}

/// How whole numbers are rounded to the elements, where all of those within bounds are such.
std::optional<formats::Rounding> rounding_of(const Levels& elements) {
  using formats::Rounding;
  const auto fits = [&](Rounding rounding, std::size_t i) {
    const std::int64_t below = elements.codes[i];
    const double at =
        std::ldexp(static_cast<double>(elements.thresholds[i].at), elements.type.frac);
    if (elements.codes[i + 1] != below + 1) return false;
    if (rounding == Rounding::floor)
      return at == static_cast<double>(below + 1) && elements.thresholds[i].included;
    const bool up = rounding == Rounding::nearest_even ? below % 2 != 0 : below >= 0;
    return at == static_cast<double>(below) + 0.5 && elements.thresholds[i].included == up;
  };
  for (const Rounding rounding :
       {Rounding::nearest_even, Rounding::nearest_away, Rounding::floor}) {
    std::size_t i = 0;
    while (i < elements.thresholds.size() && fits(rounding, i)) ++i;
    if (i == elements.thresholds.size()) return rounding;
  }
  return std::nullopt;
}

/// How far the exponent moves of a block whose greatest magnitude, relative to it, is this level.
int moves_by(const Threshold& turn, double level) {
  int places = 0;
  while (turn.reached_by(std::ldexp(level, -places - 1))) ++places;
  while (!turn.reached_by(std::ldexp(level, -places))) --places;
  return places;
}

/// The levels up to a magnitude are levels relative to an exponent that is greater by `places`.
bool are_levels(const Levels& levels, std::int64_t most, int places) {
  return std::ranges::all_of(levels.codes, [&](std::int64_t code) {
    const double moved = std::ldexp(static_cast<double>(code), -places);
    if (std::abs(code) > most || code == 0) return true;
    return moved == std::floor(moved) && std::abs(moved) < 0x1p62 &&
           levels.has(static_cast<std::int64_t>(moved));
  });
}

/// Blocks of exponents keep their numbers whatever exponent between the old one and the new one
/// they then have: the new one may be beyond the ends.
bool keeps_by_exponents(const BlockLevels& blocks) {
  const auto& [levels, turn] = blocks.mantissas.front();
  const auto first = static_cast<double>(first_of(turn));
  const std::int64_t least = std::min(levels.code_of(first), -levels.code_of(-first));
  const double last = std::nextafter(2 * first, 0.0);
  const std::int64_t greatest = std::max(levels.code_of(last), -levels.code_of(-last));
  for (const std::int64_t code : levels.codes) {
    const std::int64_t most = std::abs(code);
    if (most == 0) continue;
    const double level = std::ldexp(static_cast<double>(most), -levels.type.frac);
    const int places = moves_by(turn, level);
    // In blocks with the least exponent only, or with the greatest one.
    if ((places < 0 && most < least) || (places > 0 && most > greatest)) continue;
    for (int i = std::min(places, 0); i <= std::max(places, 0); ++i)
      if (!are_levels(levels, most, i)) return false;
  }
  return true;
}

/// Blocks with a scale keep it, whatever magnitude that has the scale becomes the greatest.
bool keeps_scale(const BlockLevels& blocks, int scale) {
  const Levels& levels = blocks.mantissa(scale).elements;
  const Threshold from = scaled(blocks.turn(scale), -blocks.exponent(scale)),
                  beyond = scaled(blocks.turn(scale + 1), -blocks.exponent(scale));
  const auto first = static_cast<double>(first_of(from));
  const std::int64_t least = std::min(levels.code_of(first), -levels.code_of(-first));
  return std::ranges::all_of(levels.codes, [&](std::int64_t code) {
    const double level = std::ldexp(static_cast<double>(std::abs(code)), -levels.type.frac);
    return std::abs(code) < least || (from.reached_by(level) && !beyond.reached_by(level));
  });
}

bool keeps_numbers(const BlockLevels& blocks) {
  const auto count = static_cast<int>(blocks.mantissas.size());
  if (blocks.least == blocks.greatest) return true;
  if (count == 1) return keeps_by_exponents(blocks);
  for (int scale = 0; scale < count; ++scale)
    if (!keeps_scale(blocks, scale)) return false;
  return true;
}

/// The exponent that is asked about: the greatest that all mantissas have, if it is not too great.
int asked_exponent(const BlockLevels& blocks, int mantissas) {
  const int top = floor_divide(blocks.greatest + 1, mantissas) - 1;
  if (top <= most_exponent) return top;
  return std::clamp(floor_divide(blocks.least, mantissas) + 1, 0, top);
}

/// A number times 2^exponent, which is not 0 where the number is not: `floor` tells them apart.
float scaled_not_to_0(float number, int exponent) {
  const float result = std::ldexp(number, exponent);
  if (result != 0 || number == 0) return result;
  return std::copysign(std::numeric_limits<float>::denorm_min(), number);
}

/// The levels of blocks of one scale, relative to an exponent.
Levels levels_at(Probe& probe, const BlockLevels& blocks, int scale, int exponent) {
  const float peak = first_peak(probe, scale);
  const float most =
      scale == blocks.greatest ? most_float : std::nextafter(first_peak(probe, scale + 1), 0.0F);
  const auto quantized = [&](Floats numbers) {
    for (float& number : numbers) number = scaled_not_to_0(number, exponent);
    Floats results = probe.beside(peak, numbers);
    for (float& result : results) result = std::ldexp(result, -exponent);
    return results;
  };
  std::vector<double> numbers = probe.numbers(peak);
  for (double& number : numbers) number = std::ldexp(number, -exponent);
  return sampled_levels({blocks.format.text(), std::ldexp(most, -std::max(exponent, 0)), quantized},
                        numbers);
}

/// Gives the elements of all mantissas one binary point.
void align(std::vector<MantissaLevels>& mantissas) {
  int frac = mantissas.front().elements.type.frac;
  for (const MantissaLevels& one : mantissas) frac = std::max(frac, one.elements.type.frac);
  for (MantissaLevels& one : mantissas) {
    Levels& levels = one.elements;
    const int places = frac - levels.type.frac;
    if (places == 0) continue;
    for (std::int64_t& code : levels.codes) code <<= places;
    levels.type = type_for(levels.codes.front(), levels.codes.back(), frac);
    levels.code = FloatCode::shortest(levels.codes, most_level_bits);
  }
}

std::shared_ptr<const BlockLevels> find_block_levels(const formats::Format& format) {
  Probe probe(format);
  BlockLevels found{format, {}, {}, probe.least(), probe.greatest(), false};
  const int exponent = asked_exponent(found, probe.mantissas());
  for (int i = 0; i < probe.mantissas(); ++i) {
    const int scale = exponent * probe.mantissas() + i;
    Levels levels = levels_at(probe, found, scale, exponent);
    // No block ever turns to the only scale.
    const Threshold turn = found.least == found.greatest
                               ? levels.thresholds.back()
                               : scaled(turn_at(first_peak(probe, scale)), -exponent);
    found.mantissas.push_back({std::move(levels), turn});
  }
  align(found.mantissas);
  check_scales(probe, found);
  if (found.mantissas.size() == 1) found.rounding = rounding_of(found.mantissas[0].elements);
  found.stays = keeps_numbers(found);
  return std::make_shared<const BlockLevels>(std::move(found));
}

/// The scales among which the greatest number of each mantissa is.
std::vector<int> greatest_scales(const BlockLevels& blocks) {
  const auto count = static_cast<int>(blocks.mantissas.size());
  std::vector<int> scales;
  for (int scale = blocks.greatest; scale >= blocks.least; --scale)
    if (blocks.greatest - scale < count) scales.push_back(scale);
  return scales;
}

/// Places from the exponent of the least scale to that of another.
int places_to(const BlockLevels& blocks, int scale) {
  return blocks.exponent(scale) - blocks.exponent(blocks.least);
}

/// Float32 operations may move a threshold by a few numbers from where real ones have it, which is
/// the one with the fewest bits.
double shortest_beside(const Threshold& threshold) {
  constexpr std::int64_t apart = 2;
  double shortest = static_cast<double>(threshold.at);
  for (std::int64_t place = -apart; place <= apart; ++place) {
    const auto number = static_cast<double>(number_at(place_of(threshold.at) + place));
    if (fraction_bits(number) < fraction_bits(shortest)) shortest = number;
  }
  return shortest;
}

/// The bits of all numbers as fixed point.
int bits_of(const BlockLevels& blocks) {
  int bits = 0;
  for (const int scale : greatest_scales(blocks)) {
    const std::vector<std::int64_t>& codes = blocks.mantissa(scale).elements.codes;
    bits = std::max(bits, signed_width(codes.front(), codes.back()) + places_to(blocks, scale));
  }
  return bits;
}

/// "; scale_bits = 4 needs 22", of the first of these values for which a stream has the bits; empty
/// where there is none.
std::string first_that_fits(const formats::Format& format, const char* field, std::int64_t from,
                            std::int64_t to) {
  const std::int64_t step = from < to ? 1 : -1;
  for (std::int64_t value = from; value != to + step; value += step) {
    const auto other = with_field(format, field, value);
    const int bits = other ? bits_of(*block_levels_of(*other)) : stream_bits + 1;
    if (bits <= stream_bits)
      return "; " + std::string(field) + " = " + std::to_string(value) + " needs " +
             std::to_string(bits);
  }
  return "";
}

/// Fields with which a stream has the bits.
std::string fewer_exponents(const formats::Format& format) {
  const Tree fields = format.fields();
  const Tree* bound = fields.find("exponent_min");
  if (bound && bound->is_int())
    return first_that_fits(format, "exponent_min", bound->as_int() + 1,
                           bound->as_int() + accumulator_bits * 2);
  const std::string from_data = bound ? "; exponent_min = \"auto\" and exponent_max = \"auto\" in "
                                        "pass quantize keep those that data have"
                                      : "";
  for (const char* field : {"scale_bits", "exponent_bias_width", "exponent_width"}) {
    const Tree* given = fields.find(field);
    const std::string found = given ? first_that_fits(format, field, given->as_int() - 1, 2) : "";
    if (!found.empty()) return from_data + found;
  }
  return from_data;
}

}  // namespace

int BlockLevels::exponent(int scale) const {
  return floor_divide(scale, static_cast<int>(mantissas.size()));
}

const MantissaLevels& BlockLevels::mantissa(int scale) const {
  const int first = exponent(scale) * static_cast<int>(mantissas.size());
  return mantissas[at(scale - first)];
}

Threshold BlockLevels::turn(int scale) const {
  return scaled(mantissa(scale).turn, exponent(scale));
}

FixedType numbers_type(const BlockLevels& blocks) {
  const int bits = bits_of(blocks);
  if (bits > stream_bits)
    refuse(blocks.format, "needs " + std::to_string(bits) +
                              " bits as fixed point over all its exponents, more than the " +
                              std::to_string(stream_bits) + " of a stream" +
                              fewer_exponents(blocks.format));
  Interval ends;
  for (const int scale : greatest_scales(blocks)) {
    const std::vector<std::int64_t>& codes = blocks.mantissa(scale).elements.codes;
    ends = hull(ends, shifted({codes.front(), codes.back()}, places_to(blocks, scale)));
  }
  return type_for(ends.low, ends.high, blocks.frac() - blocks.exponent(blocks.least));
}

FixedType deciding_type(const BlockLevels& blocks) {
  numbers_type(blocks);  // refuses what is too wide
  int frac = std::numeric_limits<int>::min();
  double most = 0;
  const auto include = [&](const Threshold& threshold) {
    frac = std::max(frac, fraction_bits(shortest_beside(threshold)));
    most = std::max(most, std::abs(static_cast<double>(threshold.at)));
  };
  for (const auto& [elements, turn] : blocks.mantissas) {
    include(turn);
    for (const Threshold& threshold : elements.thresholds) include(threshold);
  }
  const int below = frac + 1 - blocks.exponent(blocks.least);
  const int greatest = blocks.exponent(blocks.greatest) + below;
  const auto high = static_cast<Wide>(std::ceil(std::ldexp(most, greatest))) + 1;
  return type_for(-high, high, below);
}

std::vector<std::vector<std::int64_t>> blocks_of(const formats::Format& format,
                                                 const Shape& shape) {
  const auto decoding = format.decoding(shape);
  MASE_CHECK(decoding && decoding->tiling, "blocks of a format without blocks");
  const formats::Tiling& tiling = *decoding->tiling;
  const std::vector<std::int64_t> rows = tiling.row_tiles();
  const std::int64_t columns = tiling.shape.empty() ? 1 : tiling.shape.back();
  std::vector<std::vector<std::int64_t>> blocks(static_cast<std::size_t>(tiling.tiles()));
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::int64_t i = 0; i < columns; ++i)
      blocks[at(rows[row] + i / tiling.tile.back())].push_back(
          static_cast<std::int64_t>(row) * columns + i);
  return blocks;
}

std::shared_ptr<const BlockLevels> block_levels_of(const formats::Format& given) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const BlockLevels>> known;
  const formats::Format format = given.deterministic();
  const std::lock_guard lock(mutex);
  std::shared_ptr<const BlockLevels>& levels = known[format.text()];
  if (!levels) levels = find_block_levels(format);
  return levels;
}

}  // namespace mase::integer
