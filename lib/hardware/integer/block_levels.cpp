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

#include "base/error.hpp"
#include "hardware/integer/program/codes.hpp"

namespace mase::integer {
namespace {

constexpr float most_float = std::numeric_limits<float>::max();
/// Elements are asked about at the greatest exponent, where they saturate, unless it is above this.
constexpr int most_exponent = 60;

[[noreturn]] void refuse(const formats::Format& format, const std::string& reason) {
  unsupported_error("format '" + format.text() + "' " + reason);
}

/// A block format as it is asked about.
class Probe {
 public:
  Probe(const formats::Format& format, const Shape& shape) : format_(format) {
    const auto decoding = format.decoding(shape);
    using Scales = formats::Decoding::Scales;
    if (!decoding || !decoding->tiling || decoding->scales != Scales::none ||
        decoding->factors.empty())
      refuse(format,
             "has scales that no exponent stands for, which have a datapath only for weights that "
             "stay; 'mxint' and 'mxfp' have exponents");
    read_factors(decoding->factors);
    make_tensor(decoding->tiling->tile, shape);
  }

  /// The exponents of the smallest and of the largest number, which may be fewer than have a code.
  int least() { return exponent(std::numeric_limits<float>::denorm_min()); }
  int greatest() { return exponent(most_float); }

  /// The exponent of a block with this greatest magnitude.
  int exponent(float peak) {
    std::ranges::fill(numbers_, 0.0F);
    for (const auto& block : blocks_) numbers_[at(block[0])] = peak;
    const formats::Encoded encoded = format_.encode(numbers_, shape_);
    return exponents_[encoded.shared.unpack().front()];
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
  void read_factors(const std::vector<double>& factors) {
    for (const double factor : factors) {
      int exponent = 0;
      const bool has_one = std::isfinite(factor) && factor > 0;
      if (has_one && std::frexp(factor, &exponent) != 0.5)
        refuse(format_,
               "has scales that are not powers of two, which have a datapath only for weights that "
               "stay; 'mxfp4' has exponents");
      exponents_.push_back(exponent - 1);
    }
  }

  /// Some rows of the batch with a block each.
  void make_tensor(Shape tile, const Shape& shape) {
    constexpr std::int64_t rows = 64;
    shape_ = tile.size() == shape.size() ? std::move(tile) : shape;
    shape_[0] = rows;
    numbers_.resize(static_cast<std::size_t>(numel(shape_)));
    blocks_ = blocks_of(format_, shape_);
    if (std::ranges::any_of(blocks_, [](const auto& block) { return block.size() < 2; }))
      refuse(format_,
             "has blocks of one element here, each with an exponent of its own; "
             "'minifloat_ieee' has a datapath for such");
  }

  formats::Format format_;
  std::vector<int> exponents_;  ///< by shared code
  Shape shape_;
  Floats numbers_;
  std::vector<std::vector<std::int64_t>> blocks_;
};

/// The least magnitude with at least this exponent.
float first_peak(Probe& probe, int exponent) {
  std::int64_t below = 0, from = place_of(most_float);
  while (from - below > 1) {
    const std::int64_t middle = below + (from - below) / 2;
    (probe.exponent(number_at(middle)) >= exponent ? from : below) = middle;
  }
  return number_at(from);
}

/// The rule names one of the two float32 numbers between which the exponent changes: the rounder.
Threshold turn_at(float first) {
  const float before = std::nextafter(first, 0.0F);
  const auto zeros = [](float number) {
    return std::countr_zero(std::bit_cast<std::uint32_t>(number) | (1U << 23));
  };
  if (zeros(before) > zeros(first)) return {before, false};
  return {first, true};
}

float scaled(float number, int exponent) { return std::ldexp(number, exponent); }

/// The least float32 number that reaches a threshold.
float first_of(const Threshold& threshold) {
  return threshold.included ? threshold.at : std::nextafter(threshold.at, most_float);
}

/// The rule is the same for all exponents that float32 numbers can ask for.
void check_exponents(Probe& probe, const BlockLevels& levels) {
  const int low = std::max(levels.least + 1, -100), high = std::min(levels.greatest, 100);
  for (int e = low; e <= high; ++e) {
    const float first = first_of({scaled(levels.turn.at, e), levels.turn.included});
    if (probe.exponent(first) != e || probe.exponent(std::nextafter(first, 0.0F)) != e - 1)
      refuse(levels.format,
             "has exponents that do not follow the greatest magnitude by powers of two, which has "
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

/// Blocks keep their numbers whatever exponent between the old one and the new one they then have:
/// the new one may be beyond the ends.
bool keeps_numbers(const BlockLevels& blocks) {
  const Levels& levels = blocks.elements;
  const auto first = static_cast<double>(first_of(blocks.turn));
  const std::int64_t least = std::min(levels.code_of(first), -levels.code_of(-first));
  const double last = std::nextafter(2 * first, 0.0);
  const std::int64_t greatest = std::max(levels.code_of(last), -levels.code_of(-last));
  for (const std::int64_t code : levels.codes) {
    const std::int64_t most = std::abs(code);
    if (most == 0) continue;
    const double level = std::ldexp(static_cast<double>(most), -levels.type.frac);
    const int places = moves_by(blocks.turn, level);
    // In blocks with the least exponent only, or with the greatest one.
    if ((places < 0 && most < least) || (places > 0 && most > greatest)) continue;
    for (int i = std::min(places, 0); i <= std::max(places, 0); ++i)
      if (!are_levels(levels, most, i)) return false;
  }
  return true;
}

/// A shape whose blocks have several elements, where dimensions of 1 leave them one.
Shape with_several(const formats::Format& format, Shape shape) {
  const auto decoding = format.decoding(shape);
  if (decoding && decoding->tiling && numel(decoding->tiling->tile) == 1)
    for (std::size_t d = 1; d < shape.size(); ++d) shape[d] = std::max<std::int64_t>(shape[d], 2);
  return shape;
}

std::shared_ptr<const BlockLevels> find_levels(const formats::Format& format, const Shape& given) {
  const Shape shape = with_several(format, given);
  Probe probe(format, shape);
  BlockLevels found{format, {}, {}, probe.least(), probe.greatest(), {}, false};
  if (found.least == found.greatest)
    refuse(format, "has one exponent for all blocks; 'integer' has a datapath for such");
  const int asked = found.greatest <= most_exponent ? found.greatest : std::max(found.least + 1, 0);
  const Threshold turn = turn_at(first_peak(probe, asked));
  found.turn = {scaled(turn.at, -asked), turn.included};
  check_exponents(probe, found);
  const float peak = first_of(turn);
  const float most = asked == found.greatest
                         ? most_float
                         : std::nextafter(first_of({scaled(turn.at, 1), turn.included}), 0.0F);
  const auto quantized = [&](Floats numbers) {
    for (float& number : numbers) number = scaled(number, asked);
    Floats results = probe.beside(peak, numbers);
    for (float& result : results) result = scaled(result, -asked);
    return results;
  };
  const auto decoding = format.decoding(shape);
  found.elements = sampled_levels({format.text(), scaled(most, -std::max(asked, 0)), quantized},
                                  elements_of(format.text(), *decoding));
  found.rounding = rounding_of(found.elements);
  found.stays = keeps_numbers(found);
  return std::make_shared<const BlockLevels>(std::move(found));
}

/// The bits of all numbers as fixed point.
int bits_of(const BlockLevels& blocks) {
  const std::vector<std::int64_t>& codes = blocks.elements.codes;
  return signed_width(codes.front(), codes.back()) + blocks.greatest - blocks.least;
}

/// "; scale_bits = 4 has one of 22", the greatest value of a field for which a stream has the bits;
/// empty where there is none.
std::string fewer_exponents(const formats::Format& format, const Shape& shape) {
  const Tree fields = format.fields();
  for (const char* field : {"scale_bits", "exponent_bias_width", "exponent_width"}) {
    const Tree* given = fields.find(field);
    if (!given) continue;
    for (std::int64_t value = given->as_int() - 1; value >= 2; --value) {
      formats::FormatFields read = formats::read_format(format.text());
      read.fields[field] = Tree(value);
      Diagnostics ignored;
      const auto other = read.row->make(read.fields, ignored);
      if (!other) continue;
      const int bits = bits_of(*block_levels_of(*other, shape));
      if (bits <= stream_bits)
        return "; " + std::string(field) + " = " + std::to_string(value) + " needs " +
               std::to_string(bits);
    }
  }
  return "";
}

}  // namespace

int BlockLevels::exponent_of(double peak) const {
  int exponent = least;
  while (exponent < greatest && turn.reached_by(std::ldexp(peak, -exponent - 1))) ++exponent;
  return exponent;
}

FixedType numbers_type(const BlockLevels& blocks, const Shape& shape) {
  const int bits = bits_of(blocks);
  if (bits > stream_bits)
    refuse(blocks.format, "needs " + std::to_string(bits) +
                              " bits as fixed point over all its exponents, more than the " +
                              std::to_string(stream_bits) + " of a stream" +
                              fewer_exponents(blocks.format, shape));
  const int places = blocks.greatest - blocks.least;
  const std::vector<std::int64_t>& codes = blocks.elements.codes;
  return type_for(Wide{codes.front()} << places, Wide{codes.back()} << places,
                  blocks.elements.type.frac - blocks.least);
}

FixedType deciding_type(const BlockLevels& blocks, const Shape& shape) {
  numbers_type(blocks, shape);  // refuses what is too wide
  int frac = fraction_bits(static_cast<double>(blocks.turn.at));
  double most = static_cast<double>(blocks.turn.at);
  for (const Threshold& threshold : blocks.elements.thresholds) {
    const auto at = static_cast<double>(threshold.at);
    frac = std::max(frac, fraction_bits(at));
    most = std::max(most, std::abs(at));
  }
  const int below = frac + 1 - blocks.least;
  const auto high = static_cast<Wide>(std::ceil(std::ldexp(most, blocks.greatest + below))) + 1;
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

std::shared_ptr<const BlockLevels> block_levels_of(const formats::Format& given,
                                                   const Shape& shape) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const BlockLevels>> known;
  const formats::Format format = given.deterministic();
  const std::lock_guard lock(mutex);
  std::shared_ptr<const BlockLevels>& levels = known[format.text()];
  if (!levels) levels = find_levels(format, shape);
  return levels;
}

}  // namespace mase::integer
