// SPDX-License-Identifier: Apache-2.0
// A search by halves for the level of each element, a threshold a stage.
#include "hardware/design/modules/quantize.hpp"

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

/// The thresholds of a stage, with a bit above them for those that there are.
std::vector<Wide> words_of_stage(const QuantizeModule& module, int stage, int searches) {
  std::vector<Wide> words;
  for (std::int64_t known = 0; known < std::int64_t{1} << stage; ++known) {
    const std::int64_t next = (2 * known + 1) << (searches - 1 - stage);
    const bool there = next <= module.count;
    const Wide above = Wide{1} << module.in_bits;
    words.push_back(there ? above + word_at(module.thresholds, next - 1, module.in_bits) : 0);
  }
  return words;
}

/// A stage of a lane: its threshold, and the comparison with it.
Cost search_cost(const QuantizeModule& module, int stage, int searches) {
  const auto bits = static_cast<double>(module.in_bits);
  if (stage == 0) return {.lut = fitted.constant_comparison_bit * bits, .ff = 1};
  Cost cost = constants_cost(words_of_stage(module, stage, searches), module.in_bits + 1);
  cost.lut += fitted.comparison_bit * bits;
  cost.carry += fitted.threshold_carry_bit * bits;
  cost.ff += bits + stage + 1;
  return cost;
}

}  // namespace

QuantizeModule quantize_module(const integer::Quantize& step, const integer::FixedType& from,
                               const integer::FixedType& to, std::int64_t lanes) {
  std::vector<Wide> thresholds = step.thresholds, levels(step.levels.begin(), step.levels.end());
  if (thresholds.empty()) {  // the module has one, between two equal levels then
    thresholds.push_back(from.high());
    levels.push_back(levels.front());
  }
  for (Wide& threshold : thresholds) threshold -= from.low();  // turns a sign over
  return {.lanes = lanes,
          .in_bits = from.width,
          .in_signed = from.is_signed,
          .out_bits = to.width,
          .count = static_cast<std::int64_t>(thresholds.size()),
          .thresholds = pack_bits(thresholds, from.width),
          .levels = pack_bits(levels, to.width)};
}

std::unique_ptr<Handshake> QuantizeModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(searches_of(*this) + 1, kept);
}

Cost QuantizeModule::cost(const Design&) const {
  const int searches = searches_of(*this);
  std::vector<Wide> codes;
  for (std::int64_t level = 0; level < std::int64_t{1} << searches; ++level)
    codes.push_back(level <= count ? word_at(levels, level, out_bits) : 0);
  Cost lane = {.lut = constants_cost(codes, out_bits).lut, .ff = static_cast<double>(out_bits)};
  for (int stage = 0; stage < searches; ++stage) lane += search_cost(*this, stage, searches);
  Cost cost = output_cost(lanes * out_bits, searches + 1);
  cost += scaled(lane, static_cast<double>(lanes));
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
  return {{to("fp4_e2m1()", 16, 8), 63 + 7},
          {to("fp8_e4m3()", 24, 14), 367 + 15},
          {to("fp6_e2m3()", 20, 10), 123 + 11},
          {to("log(5)", 20, 14), 152 + 9},
          {to("ternary(threshold=0.25)", 12, 6), 19 + 1}};
}

Paths QuantizeModule::paths(const Technology& technology) const {
  const int searches = searches_of(*this);
  const auto bits = static_cast<double>(in_bits);
  const Path search{.what = "threshold",
                    .luts = tree_luts(searches - 1, technology) + 1,
                    .chains = 1,
                    .carry = bits,
                    .readers = bits};
  return {search, rom_path(out_bits, std::int64_t{1} << searches, false, technology)};
}

StepRow QuantizeModule::step() {
  return {"quantize", element_rule, fold_lanes, output_interval, nullptr, add_quantize};
}

ModuleRow QuantizeModule::row() {
  return row_of_module<QuantizeModule>({.folder = "elementwise",
                                        .doc = "rounding to the levels of a number format",
                                        .uses = {"mase_skid"},
                                        .inputs = {"in"},
                                        .outputs = {"out"}});
}

}  // namespace mase::design
