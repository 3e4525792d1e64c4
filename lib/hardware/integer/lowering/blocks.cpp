// SPDX-License-Identifier: Apache-2.0
// Rounding streams to formats whose blocks share a scale: the greatest magnitude of each block
// gives its scale, elements are shifted by its exponent, rounded as its mantissa asks, and shifted
// back.
#include <algorithm>
#include <functional>
#include <numeric>

#include "hardware/integer/lowering/block_thresholds.hpp"
#include "hardware/integer/lowering/lowering.hpp"
#include "hardware/integer/lowering/movement.hpp"
#include "hardware/integer/lowering/quantize.hpp"

namespace mase::integer {
namespace {

/// The places of a stream in blocks of equal length; -1 for what fills up the last ones.
struct BlockPlaces {
  std::int64_t length = 0;
  std::vector<std::int64_t> places;
  bool in_order = true;  ///< the stream as it is
};

Shape with_batch(const Shape& frame, std::int64_t rows) {
  Shape shape{rows};
  shape.insert(shape.end(), frame.begin(), frame.end());
  return shape;
}

/// The value of a field with which blocks lie within rows of the batch.
std::string within_rows(const formats::Format& format) {
  return format.fields().find("skip_first_dim") ? "skip_first_dim = true" : "block_dim = -1";
}

/// The blocks of a row of the batch.
std::vector<std::vector<std::int64_t>> blocks_of_rows(const formats::Format& format,
                                                      const Shape& frame) {
  auto blocks = blocks_of(format, with_batch(frame, 1));
  if (blocks_of(format, with_batch(frame, 2)).size() != 2 * blocks.size())
    throw Refusal{"its blocks in format '" + format.text() +
                  "' have elements of several rows of the batch, which has no datapath; " +
                  within_rows(format) + " has one"};
  return blocks;
}

/// Blocks in the order of their first elements, and elements in that of the stream.
BlockPlaces places_in_blocks(const formats::Format& format, const Layout& layout) {
  std::vector<std::vector<std::int64_t>> blocks = blocks_of_rows(format, layout.torch_shape);
  const std::vector<std::int64_t> places = places_of(layout);
  BlockPlaces found;
  for (auto& block : blocks) {
    for (std::int64_t& element : block) element = places[at(element)];
    std::ranges::sort(block);
    found.length = std::max(found.length, std::ssize(block));
  }
  std::ranges::sort(blocks);
  for (const auto& block : blocks) {
    found.places.insert(found.places.end(), block.begin(), block.end());
    found.places.resize(found.places.size() + at(found.length) - block.size(), -1);
  }
  for (std::size_t i = 0; i < found.places.size(); ++i)
    found.in_order = found.in_order && found.places[i] == static_cast<std::int64_t>(i);
  return found;
}

/// The steps that round one stream.
class BlockSteps {
 public:
  BlockSteps(Lowering& lowering, const ir::Node& reader, const std::string& port,
             std::shared_ptr<const BlockLevels> levels, std::int64_t divisor = 1)
      : lowering_(lowering),
        reader_(reader),
        port_(port),
        shared_(std::move(levels)),
        levels_(*shared_),
        divisor_(divisor) {}

  StreamView run(const StreamView& stream) {
    const BlockPlaces blocks = places_in_blocks(levels_.format, lowering_.layout_of(stream));
    if (blocks.in_order) return rounded(stream, blocks.length);
    const std::int64_t elements = lowering_.value(stream.id).elements();
    const std::int64_t filled = std::ssize(blocks.places);
    std::vector<std::int64_t> back(at(elements));
    for (std::size_t i = 0; i < blocks.places.size(); ++i)
      if (blocks.places[i] >= 0) back[at(blocks.places[i])] = static_cast<std::int64_t>(i);
    const StreamView gathered =
        moved(stream, gather_of(blocks.places, elements, 0), row_major({filled}), "blocks");
    return moved(rounded(gathered, blocks.length), gather_of(std::move(back), filled, 0),
                 lowering_.layout_of(stream), "elements");
  }

 private:
  const FixedType& type(const StreamView& stream) const { return lowering_.value(stream.id).type; }

  StreamView emit(const std::string& suffix, Operation operation, std::vector<ValueId> inputs,
                  const Accumulator& accumulator, const Requantise& requantise, Layout layout) {
    return lowering_.emit_before(reader_, port_ + "_" + suffix, std::move(operation),
                                 std::move(inputs), accumulator, requantise, std::move(layout));
  }

  StreamView exact(const std::string& suffix, Operation operation, const StreamView& stream,
                   const Interval& range, int frac, Layout layout) {
    return emit(suffix, std::move(operation), {stream.id}, {range, frac}, exactly(range),
                std::move(layout));
  }

  StreamView moved(const StreamView& stream, Gather gather, Layout layout,
                   const std::string& suffix) {
    return exact(suffix, std::move(gather), stream, interval_of(type(stream)), type(stream).frac,
                 std::move(layout));
  }

  /// A stream, the greatest magnitudes of its blocks, and the scales that these may ask for: their
  /// first exponent, and the most above it.
  struct Blocks {
    StreamView elements, peaks;
    const BlockScales& scales;
    std::int64_t length;
    int first, most;
  };

  Interval range_of(const StreamView& stream) const { return interval_of(type(stream)); }

  StreamView rounded(const StreamView& x, std::int64_t length) {
    const BlockScales scales = scales_within(levels_, type(x), divisor_);
    if (scales.reached.empty()) return alone(x, scales.numbers.front());
    const int first = levels_.exponent(scales.numbers.front());
    const int most = levels_.exponent(scales.numbers.back()) - first;
    const Blocks blocks{x, peak_of(x, length), scales, length, first, most};
    if (levels_.mantissas.size() > 1) return rounded_by_mantissas(blocks);
    const auto exponent = [&](int scale) { return levels_.exponent(scale) - first; };
    const StreamView exponents =
        repeated("exponents", of_peaks("exponent", blocks, exponent), blocks);
    if (levels_.rounding)
      return scaled(shifted_and_rounded(x, exponents, first), exponents, blocks);
    const ShiftedThresholds thresholds = thresholds_of(blocks);
    const StreamView near = aligned(blocks, exponents, thresholds);
    const Quantize step = thresholds.search({{}}, range_of(near));
    return scaled(on_levels(near, step, levels_.mantissas[0].elements), exponents, blocks);
  }

  /// Elements times the powers of two of their blocks.
  StreamView scaled(const StreamView& elements, const StreamView& exponents, const Blocks& blocks) {
    const Interval range = shifted(range_of(elements), blocks.most);
    return emit("scale", BlockShift{}, {elements.id, exponents.id},
                {range, type(elements).frac - blocks.first}, exactly(range),
                blocks.elements.layout);
  }

  StreamView peak_of(const StreamView& x, std::int64_t length) {
    const FixedType from = type(x);
    const Interval peaks{0, std::max<Wide>(-from.low(), from.high())};
    return exact("peak", RowReduce{PoolKind::max, length, from.is_signed}, x, peaks, from.frac,
                 row_major({lowering_.value(x.id).elements() / length}));
  }

  /// For each block a number that follows from its scale.
  StreamView of_peaks(const std::string& suffix, const Blocks& blocks,
                      const std::function<std::int64_t(int)>& of_scale) {
    const BlockScales& scales = blocks.scales;
    Quantize step{levels_.format.text(), {}, {of_scale(scales.numbers.front())}};
    for (std::size_t i = 0; i < scales.reached.size(); ++i) {
      const std::int64_t number = of_scale(scales.numbers[i + 1]);
      if (number == step.levels.back()) continue;
      step.thresholds.push_back(scales.reached[i]);
      step.levels.push_back(number);
    }
    const Interval range{0, std::ranges::max(step.levels)};
    return exact(suffix, std::move(step), blocks.peaks, range, 0, blocks.peaks.layout);
  }

  /// A number of each block for each of its elements.
  StreamView repeated(const std::string& suffix, const StreamView& once, const Blocks& blocks) {
    if (blocks.length == 1) return {once.id, blocks.elements.layout};
    return exact(suffix, Repeat{blocks.length}, once, range_of(once), 0, blocks.elements.layout);
  }

  /// A part of the codes of blocks, up to a number, for each element.
  StreamView part_of(const std::string& part, const StreamView& codes, std::int64_t most,
                     const std::function<std::int64_t(std::int64_t)>& of_code,
                     const Blocks& blocks) {
    Lookup table{part, Codes(std::size_t{1} << type(codes).width)};
    std::iota(table.table.begin(), table.table.end(), 0);
    std::ranges::transform(table.table, table.table.begin(), of_code);
    const StreamView once = exact(part, std::move(table), codes, {0, most}, 0, codes.layout);
    return repeated(part + "s", once, blocks);
  }

  /// Whole numbers relative to the exponents of their blocks.
  StreamView shifted_and_rounded(const StreamView& x, const StreamView& exponents, int first) {
    int frac = 0;  // of the thresholds, below which one bit tells of a rest
    for (const Threshold& threshold : levels_.mantissas[0].elements.thresholds)
      frac = std::max(frac, fraction_bits(static_cast<double>(threshold.at)));
    const FixedType from = type(x);
    const BlockShift shift{true, from.frac + first - frac};
    const Accumulator accumulator{{shift(from.low(), 0), shift(from.high(), 0) | 1}, frac + 1};
    return emit("round", shift, {x.id, exponents.id}, accumulator, rounding(accumulator), x.layout);
  }

  ShiftedThresholds thresholds_of(const Blocks& blocks) const {
    return {levels_, type(blocks.elements).frac + blocks.first + blocks.most, divisor_};
  }

  /// Elements relative to the exponents of their blocks, as far as thresholds tell them apart.
  StreamView aligned(const Blocks& blocks, const StreamView& exponents,
                     const ShiftedThresholds& thresholds) {
    const StreamView& x = blocks.elements;
    const FixedType from = type(x);
    const int frac = from.frac + blocks.first + blocks.most - thresholds.places();
    const BlockShift shift{true, from.frac + blocks.first - frac};
    const Interval range{shift(from.low(), 0), shift(from.high(), 0) | 1};
    return emit("align", shift, {x.id, exponents.id}, {range, frac + 1},
                exactly(thresholds.deciding(range)), x.layout);
  }

  StreamView searched(const StreamView& x, Quantize step) {
    const auto [low, high] = std::ranges::minmax(step.levels);
    return exact("round", std::move(step), x, {low, high}, levels_.frac(), x.layout);
  }

  /// The same where all levels are those of one mantissa.
  StreamView on_levels(const StreamView& x, Quantize step, const Levels& levels) {
    const StreamView elements = searched(x, std::move(step));
    lowering_.set_levels(elements.id, {shared_, &levels});
    return elements;
  }

  /// What divides the levels of a mantissa: the mantissa, as a whole number.
  std::int64_t factor_of(int scale) const {
    std::int64_t factor = 0;
    for (const std::int64_t code : levels_.mantissa(scale).elements.codes)
      factor = std::gcd(factor, code);
    return factor;
  }

  /// The levels of all mantissas without these; they are the same.
  std::shared_ptr<const Levels> bare_levels() const {
    const auto bare = [&](int mantissa) {
      Codes codes = levels_.mantissas[at(mantissa)].elements.codes;
      for (std::int64_t& code : codes) code /= factor_of(mantissa);
      return codes;
    };
    Levels levels{levels_.format.text(), {}, bare(0), {}, {}};
    for (int i = 1; i < static_cast<int>(levels_.mantissas.size()); ++i)
      MASE_CHECK(bare(i) == levels.codes, "mantissas whose elements are not the same");
    levels.type = type_for(levels.codes.front(), levels.codes.back(), levels_.frac());
    levels.code = FloatCode::shortest(levels.codes, most_level_bits);
    return std::make_shared<const Levels>(std::move(levels));
  }

  /// One search in the thresholds of all mantissas, those of a greater one above those of others.
  /// A block's code is its exponent, and its mantissa above that.
  StreamView rounded_by_mantissas(const Blocks& blocks) {
    const int exponent_bits = type_for(0, blocks.most, 0).width;
    const auto code = [&](int scale) {
      return levels_.exponent(scale) - blocks.first + (factor_of(scale) << exponent_bits);
    };
    const StreamView codes = of_peaks("code", blocks, code);
    std::vector<ShiftedThresholds::Part> parts;
    for (int i = 0; i < static_cast<int>(levels_.mantissas.size()); ++i)
      if (std::ranges::any_of(blocks.scales.numbers, [&](int scale) {
            return &levels_.mantissa(scale) == &levels_.mantissas[at(i)];
          }))
        parts.push_back({i, 0, factor_of(i)});
    const Interval factors{parts.front().factor, parts.back().factor};
    const StreamView exponents = part_of(
        "exponent", codes, blocks.most,
        [&](std::int64_t c) { return c & ((std::int64_t{1} << exponent_bits) - 1); }, blocks);
    const StreamView mantissas = part_of(
        "mantissa", codes, static_cast<std::int64_t>(factors.high),
        [&](std::int64_t c) { return c >> exponent_bits; }, blocks);
    const StreamView elements = elements_of(blocks, exponents, mantissas, std::move(parts));
    const Interval range = product(range_of(elements), {0, factors.high});
    const StreamView multiples =
        emit("multiple", Binary{BinaryKind::multiply}, {elements.id, mantissas.id},
             {range, levels_.frac()}, exactly(range), blocks.elements.layout);
    return scaled(multiples, exponents, blocks);
  }

  /// Elements without the mantissas of their blocks.
  StreamView elements_of(const Blocks& blocks, const StreamView& exponents,
                         const StreamView& mantissas, std::vector<ShiftedThresholds::Part> parts) {
    const ShiftedThresholds thresholds = thresholds_of(blocks);
    const StreamView near = aligned(blocks, exponents, thresholds);
    const Interval range = range_of(near);
    const int bits = type_for(0, range.high - range.low, 0).width;
    for (auto& part : parts) part.place = Wide{part.factor} << bits;
    const Interval sums{parts.front().place + range.low, parts.back().place + range.high};
    const StreamView both = emit("place", Binary{BinaryKind::add, 0, bits}, {near.id, mantissas.id},
                                 {sums, type(near).frac}, exactly(sums), near.layout);
    const StreamView elements = searched(both, thresholds.search(parts, range));
    lowering_.set_levels(elements.id, bare_levels());
    return elements;
  }

  Requantise rounding(const Accumulator& accumulator) const {
    const Levels& elements = levels_.mantissas[0].elements;
    const Wide low = elements.codes.front(), high = elements.codes.back();
    return {accumulator.frac - elements.type.frac, divisor_, *levels_.rounding,
            accumulator.range.low < 0 ? low : std::max<Wide>(low, 0), high};
  }

  /// A stream whose blocks can have one scale only.
  StreamView alone(const StreamView& x, int scale) {
    const int exponent = levels_.exponent(scale);
    const Levels& levels = levels_.mantissa(scale).elements;
    const Accumulator accumulator{range_of(x), type(x).frac + exponent};
    const StreamView elements =
        levels_.rounding
            ? emit("round", Cast{}, {x.id}, accumulator, rounding(accumulator), x.layout)
            : on_levels(x, quantize_step(levels, accumulator.range, accumulator.frac, divisor_),
                        levels);
    const FixedType found = type(elements);
    const Interval range = interval_of(found);
    return exact("scale", Cast{}, elements, range, found.frac - exponent, x.layout);
  }

  Lowering& lowering_;
  const ir::Node& reader_;
  const std::string& port_;
  std::shared_ptr<const BlockLevels> shared_;
  const BlockLevels& levels_;
  std::int64_t divisor_;  ///< of the codes of the stream
};

}  // namespace

StreamView Lowering::in_blocks(const StreamView& stream, const formats::Format& format,
                               const ir::Node& reader, const std::string& port) {
  if (masked(stream.id)) throw Refusal{no_masks(format.text())};
  const Layout& layout = stream.layout;
  const auto key = std::tuple(stream.id, format.text(), layout.torch_shape, layout.order);
  const auto made = in_blocks_.find(key);
  if (made != in_blocks_.end()) return {made->second, layout};
  const auto levels = block_levels_of(format);
  StreamView result = BlockSteps(*this, reader, port, levels).run({stream.id, layout_of(stream)});
  result.layout = layout;
  in_blocks_[key] = result.id;
  set_in_blocks(result, *levels);
  return result;
}

StreamView Lowering::fraction_in_blocks(const StreamView& stream, std::int64_t divisor,
                                        const formats::Format& format, const ir::Node& node) {
  Layout layout = layout_of(stream);
  layout.torch_shape = Shape(node.info.shape.begin() + 1, node.info.shape.end());
  const auto levels = block_levels_of(format);
  MASE_CHECK(levels->stays, "a fraction would be rounded to blocks twice");
  StreamView result = BlockSteps(*this, node, "data_out", levels, divisor).run({stream.id, layout});
  result.layout = layout;
  set_in_blocks(result, *levels);
  result.layout = stream.layout;
  return result;
}

void Lowering::set_in_blocks(const StreamView& stream, const BlockLevels& levels) {
  const Layout& layout = stream.layout;
  blocks_of_rows(levels.format, layout.torch_shape);
  const auto key = std::tuple(stream.id, levels.format.text(), layout.torch_shape, layout.order);
  if (levels.stays) in_blocks_[key] = stream.id;
}

}  // namespace mase::integer
