// SPDX-License-Identifier: Apache-2.0
// Rounding streams to formats whose blocks share an exponent: the greatest magnitude of each block
// gives its exponent, elements are shifted to it, rounded, and shifted back.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hardware/integer/block_levels.hpp"
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

/// The blocks of a row of the batch.
std::vector<std::vector<std::int64_t>> blocks_of_rows(const formats::Format& format,
                                                      const Shape& frame) {
  auto blocks = blocks_of(format, with_batch(frame, 1));
  if (blocks_of(format, with_batch(frame, 2)).size() != 2 * blocks.size())
    throw Refusal{"its blocks in format '" + format.text() +
                  "' have elements of several rows of the batch, which has no datapath; "
                  "skip_first_dim = true, or another block_dim, has one"};
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

/// The exponents that blocks of a stream can have, and what their greatest magnitude reaches for
/// each but the first.
struct Exponents {
  int first = 0;
  std::vector<Wide> reached;
};

Exponents exponents_within(const BlockLevels& blocks, const FixedType& type, std::int64_t divisor) {
  const Wide most = std::max<Wide>(-type.low(), type.high());
  const auto reached = [&](int exponent) {
    return blocks.turn(exponent).least_code(type.frac, divisor);
  };
  Exponents found{blocks.least, {}};
  for (int e = blocks.least + 1; e <= blocks.greatest; ++e) {
    const Wide code = reached(e);
    if (code > most) break;
    if (code <= 1)  // every block but those of zeros
      found.first = e;
    else
      found.reached.push_back(code);
  }
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

  StreamView rounded(const StreamView& x, std::int64_t length) {
    const Exponents exponents = exponents_within(levels_, type(x), divisor_);
    if (exponents.reached.empty()) return alone(x, exponents.first);
    const StreamView shared = exponents_of(x, exponents, length);
    const StreamView elements = shifted(x, shared, exponents.first);
    const auto most = static_cast<int>(exponents.reached.size());
    const Interval range = integer::shifted(interval_of(type(elements)), most);
    return emit("scale", BlockShift{}, {elements.id, shared.id},
                {range, type(elements).frac - exponents.first}, exactly(range), x.layout);
  }

  /// The exponent of each block above the first, for each of its elements.
  StreamView exponents_of(const StreamView& x, const Exponents& exponents, std::int64_t length) {
    const FixedType from = type(x);
    const Interval peaks{0, std::max<Wide>(-from.low(), from.high())};
    const Layout once = row_major({lowering_.value(x.id).elements() / length});
    const StreamView peak =
        exact("peak", RowReduce{PoolKind::max, length, from.is_signed}, x, peaks, from.frac, once);
    Quantize step{levels_.format.text(), exponents.reached, Codes(exponents.reached.size() + 1)};
    std::iota(step.levels.begin(), step.levels.end(), 0);
    const Interval range{0, step.levels.back()};
    const StreamView exponent = exact("exponent", std::move(step), peak, range, 0, once);
    return exact("exponents", Repeat{length}, exponent, range, 0, x.layout);
  }

  /// Elements relative to the exponents of their blocks, rounded.
  StreamView shifted(const StreamView& x, const StreamView& shared, int first) {
    int frac = 0;  // of the thresholds, below which one bit tells of a rest
    for (const Threshold& threshold : levels_.mantissas[0].elements.thresholds)
      frac = std::max(frac, fraction_bits(static_cast<double>(threshold.at)));
    const FixedType from = type(x);
    const BlockShift shift{true, from.frac + first - frac};
    const Interval range{shift(from.low(), 0), shift(from.high(), 0) | 1};
    const Accumulator accumulator{range, frac + 1};
    const std::vector<ValueId> inputs{x.id, shared.id};
    if (levels_.rounding)
      return emit("round", shift, inputs, accumulator, rounding(accumulator), x.layout);
    const auto reach = [&](const Threshold& threshold) {
      return threshold.least_code(frac + 1, divisor_);
    };
    const Interval clamped{
        std::max(range.low, reach(levels_.mantissas[0].elements.thresholds.front()) - 1),
        std::min(range.high, reach(levels_.mantissas[0].elements.thresholds.back()))};
    Requantise clamp = exactly(clamped);
    return quantized(emit("align", shift, inputs, accumulator, clamp, x.layout), frac + 1);
  }

  Requantise rounding(const Accumulator& accumulator) const {
    const Wide low = levels_.mantissas[0].elements.codes.front(),
               high = levels_.mantissas[0].elements.codes.back();
    return {accumulator.frac - levels_.mantissas[0].elements.type.frac, divisor_, *levels_.rounding,
            accumulator.range.low < 0 ? low : std::max<Wide>(low, 0), high};
  }

  /// Numbers of so many fraction bits relative to their exponents on the levels of elements.
  StreamView quantized(const StreamView& x, int frac) {
    const Levels& levels = levels_.mantissas[0].elements;
    Quantize step = quantize_step(levels, interval_of(type(x)), frac, divisor_);
    const Interval range{step.levels.front(), step.levels.back()};
    const StreamView elements =
        exact("round", std::move(step), x, range, levels.type.frac, x.layout);
    lowering_.set_levels(elements.id, {shared_, &levels});
    return elements;
  }

  /// A stream whose blocks can have one exponent only.
  StreamView alone(const StreamView& x, int exponent) {
    const Accumulator accumulator{interval_of(type(x)), type(x).frac + exponent};
    const StreamView elements = levels_.rounding ? emit("round", Cast{}, {x.id}, accumulator,
                                                        rounding(accumulator), x.layout)
                                                 : quantized(x, accumulator.frac);
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
  const auto levels = block_levels_of(format, with_batch(layout.torch_shape, 1));
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
  const auto levels = block_levels_of(format, node.info.shape);
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
