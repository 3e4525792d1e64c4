// SPDX-License-Identifier: Apache-2.0
// A search by halves for the level of each element, a threshold a stage.
#include "hardware/design/modules/quantize.hpp"

#include "base/random.hpp"
#include "formats/format.hpp"
#include "hardware/design/building/memory_image.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/numbers.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"
#include "hardware/integer/levels.hpp"

namespace mase::design {
namespace {

/// Stages of the search, each of which finds a bit of the level's index.
int searches_of(const QuantizeModule& module) { return log2_ceiling(module.count + 1); }

int block_bits(const QuantizeModule& module) { return log2_ceiling(module.blocks()); }

/// Registers before the skid: one behind each stage and one for the level; memories of several
/// blocks have an output register.
int stages_of(const QuantizeModule& module) {
  return searches_of(module) + (module.blocks() > 1 ? 2 : 1);
}

StreamId add_quantize(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& quantize = std::get<integer::Quantize>(builder.step.operation);
  const QuantizeModule module =
      quantize_module(quantize, builder.input().type, builder.output().type, builder.fold.in_lanes);
  return builder.finish(module, inputs, module.lanes);
}

/// Word `index` of packed ones.
Wide word_at(const HexBits& words, std::int64_t index, int bits) {
  return hex_bits(words.digits, index * bits, bits);
}

/// A table of constants, by what Yosys makes of its columns.
Cost constants_cost(const std::vector<Wide>& words, int bits) {
  Memory image;
  image.word_bits = bits;
  for (const Wide word : words) image.words.push_back(pack_word({&word, 1}, bits));
  return table_cost(bits, static_cast<std::int64_t>(words.size()), &image);
}

/// The thresholds of a stage of a lane, with a bit above them for those that there are: what is
/// known of the index above the block.
std::vector<Wide> words_of_stage(const QuantizeModule& module, std::int64_t lane, int stage) {
  const int searches = searches_of(module);
  std::vector<Wide> words;
  for (std::int64_t known = 0; known < std::int64_t{1} << stage; ++known)
    for (std::int64_t block = 0; block < std::int64_t{1} << block_bits(module); ++block) {
      const std::int64_t next = (2 * known + 1) << (searches - 1 - stage);
      const std::int64_t channel = module.channels == 1 ? 0 : block * module.lanes + lane;
      const bool there = next <= module.count && block < module.blocks();
      words.push_back(
          there ? word_at(module.thresholds, channel * module.count + next - 1, module.in_bits + 1)
                : 0);
    }
  return words;
}

/// A stage of a lane: its threshold, and the comparison with it.
Cost search_cost(const QuantizeModule& module, std::int64_t lane, int stage) {
  const auto bits = static_cast<double>(module.in_bits);
  if (stage + block_bits(module) == 0)
    return {.lut = fitted.constant_comparison_bit * bits, .ff = 1};
  Cost cost = constants_cost(words_of_stage(module, lane, stage), module.in_bits + 1);
  cost.lut += fitted.comparison_bit * bits;
  cost.carry += fitted.threshold_carry_bit * bits;
  cost.ff += (stage > 0 || module.blocks() > 1 ? bits : 0) + stage + 1;
  return cost;
}

/// All stages of a lane.
Cost searches_cost(const QuantizeModule& module, std::int64_t lane) {
  Cost cost;
  for (int stage = 0; stage < searches_of(module); ++stage)
    cost += search_cost(module, lane, stage);
  return cost;
}

/// Which block a beat is, in each stage.
Cost block_cost(const QuantizeModule& module) {
  if (module.blocks() == 1) return {};
  Cost cost = counter_cost(module.blocks());
  cost.ff += static_cast<double>(block_bits(module) * (searches_of(module) - 1));
  return cost;
}

FoldRule quantize_rule(const Program& program, const Step& step, const Fold& fold) {
  const std::int64_t channels = std::get<integer::Quantize>(step.operation).channels;
  return channels == 1 ? element_rule(program, step, fold) : same_lanes(channels);
}

}  // namespace

QuantizeModule quantize_module(const integer::Quantize& step, const integer::FixedType& from,
                               const integer::FixedType& to, std::int64_t lanes) {
  std::vector<Wide> thresholds = step.thresholds, levels(step.levels.begin(), step.levels.end());
  if (thresholds.empty()) {  // the module has one, between two equal levels then
    thresholds.assign(static_cast<std::size_t>(step.channels), from.high());
    levels.push_back(levels.front());
  }
  const Wide end = Wide{1} << from.width;
  for (Wide& threshold : thresholds) {
    threshold -= from.low();  // turns a sign over
    threshold = threshold < end ? end + threshold : 0;
  }
  return {.lanes = lanes,
          .in_bits = from.width,
          .in_signed = from.is_signed,
          .out_bits = to.width,
          .count = static_cast<std::int64_t>(levels.size()) - 1,
          .channels = step.channels,
          .thresholds = pack_bits(thresholds, from.width + 1),
          .levels = pack_bits(levels, to.width)};
}

std::unique_ptr<Handshake> QuantizeModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(stages_of(*this), kept);
}

Cost QuantizeModule::cost(const Design&) const {
  const int searches = searches_of(*this);
  std::vector<Wide> codes;
  for (std::int64_t level = 0; level < std::int64_t{1} << searches; ++level)
    codes.push_back(level <= count ? word_at(levels, level, out_bits) : 0);
  const Cost result{.lut = constants_cost(codes, out_bits).lut,
                    .ff = static_cast<double>(out_bits)};
  Cost cost = output_cost(lanes * out_bits, stages_of(*this));
  cost += scaled(result, static_cast<double>(lanes));
  cost += block_cost(*this);
  if (channels == 1)
    cost += scaled(searches_cost(*this, 0), static_cast<double>(lanes));
  else
    for (std::int64_t lane = 0; lane < lanes; ++lane) cost += searches_cost(*this, lane);
  return cost;
}

std::vector<Measured<QuantizeModule>> QuantizeModule::measured() {
  const auto to = [](const std::string& format, int width, int frac) {
    const auto levels = integer::levels_of(formats::parse_format(format));
    const integer::FixedType from{width, frac, true};
    const integer::Quantize step =
        integer::quantize_step(*levels, integer::interval_of(from), frac);
    return quantize_module(step, from, levels->type, 1);
  };
  // Thresholds of channels at random distances, and codes without a sign.
  const auto by_channel = [](std::int64_t channels, std::int64_t lanes, int width, int bits) {
    Random random(static_cast<std::uint64_t>(width));
    integer::Quantize step{"", {}, {}, channels};
    for (std::int64_t level = 0; level < std::int64_t{1} << bits; ++level)
      step.levels.push_back(level);
    const auto most = static_cast<std::uint64_t>((Wide{1} << (width - bits)) - 1);
    for (std::int64_t c = 0; c < channels; ++c) {
      Wide last = -(Wide{1} << (width - 1));
      for (std::size_t i = 0; i < step.count(); ++i)
        step.thresholds.push_back(last += 1 + static_cast<Wide>(random.below(most)));
    }
    return quantize_module(step, {width, 0, true}, {bits, 0, false}, lanes);
  };
  return {{to("fp4_e2m1()", 16, 8), 63 + 7},
          {to("fp8_e4m3()", 28, 16), 384 + 23},
          {to("fp6_e2m3()", 20, 10), 123 + 11},
          {to("log(5)", 20, 14), 152 + 9},
          {to("ternary(threshold=0.25)", 12, 6), 19 + 1},
          {by_channel(8, 8, 10, 2), 101 + 8},
          {by_channel(16, 4, 14, 4), 336 + 32},
          {by_channel(64, 1, 16, 4), 333 + 10},
          {by_channel(32, 2, 18, 1), 69 + 5}};
}

Paths QuantizeModule::paths(const Technology& technology) const {
  const int searches = searches_of(*this);
  const auto bits = static_cast<double>(in_bits);
  const Path search{.what = "threshold",
                    .luts = tree_luts(searches - 1 + block_bits(*this), technology) + 1,
                    .chains = 1,
                    .carry = bits,
                    .readers = bits};
  Paths paths{search, rom_path(out_bits, std::int64_t{1} << searches, false, technology)};
  if (blocks() > 1) paths.push_back(counter_path(blocks(), technology));
  return paths;
}

StepRow QuantizeModule::step() {
  return {"quantize", quantize_rule, fold_lanes, output_interval, nullptr, add_quantize};
}

ModuleRow QuantizeModule::row() {
  return row_of_module<QuantizeModule>({.folder = "elementwise",
                                        .doc = "levels by thresholds",
                                        .uses = {"mase_skid"},
                                        .inputs = {"in"},
                                        .outputs = {"out"}});
}

}  // namespace mase::design
