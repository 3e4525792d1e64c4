// SPDX-License-Identifier: Apache-2.0
// A memory of pieces, a product and a sum for each lane.
#include "hardware/design/modules/piecewise.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// Bases above slopes, as the module reads them.
std::vector<Wide> piecewise_words(const integer::Pieces& piecewise) {
  std::vector<Wide> words;
  const int bits = piecewise.slope_type.width;
  for (std::size_t s = 0; s < piecewise.base.size(); ++s)
    words.push_back(piecewise.base[s] * (Wide{1} << bits) +
                    plain_code(piecewise.slope[s], bits).value);
  return words;
}

int word_bits(const PiecewiseModule& module) { return module.slope_bits + module.base_bits; }
std::int64_t pieces(const PiecewiseModule& module) {
  return std::int64_t{1} << (module.in_bits - module.low_bits);
}
bool in_block_memory(const PiecewiseModule& module) {
  return lookup_in_block.holds(word_bits(module), pieces(module));
}

int slope_operand(const PiecewiseModule& module) {
  return signed_bits(Width{module.slope_bits, module.slope_signed});
}
int low_operand(const PiecewiseModule& module) {
  return signed_bits(Width{module.low_bits, false});
}

StreamId add_piecewise(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& piecewise = std::get<integer::Piecewise>(builder.step.operation);
  PiecewiseModule module = piecewise_module(builder, piecewise);
  module.in_bits = builder.input().type.width;
  return builder.finish(module, inputs, module.lanes);
}

}  // namespace

PiecewiseModule piecewise_module(StepBuilder& builder, const integer::Pieces& pieces) {
  PiecewiseModule module{requantisation_of(builder)};
  module.lanes = builder.fold.in_lanes;
  module.low_bits = pieces.low_bits;
  module.slope_bits = pieces.slope_type.width;
  module.slope_signed = pieces.slope_type.is_signed;
  module.base_bits = integer::codes_width(pieces.base);
  module.sum_bits = static_cast<int>(accumulator_width(builder.step));
  module.multiplier = static_cast<int>(builder.fold.multiplier);
  module.file = builder.memory("pieces", word_bits(module), [&] {
    return vector_words(piecewise_words(pieces), 1, word_bits(module));
  });
  return module;
}

std::unique_ptr<Handshake> PiecewiseModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(piecewise_stages, kept);
}

Cost PiecewiseModule::cost(const Design& design) const {
  const std::int64_t words = pieces(*this), bits = word_bits(*this);
  Cost lane = product_cost(low_operand(*this), slope_operand(*this), multiplier);
  // A DSP block holds operands, product and sum, and adds the base, which waits in it for a cycle.
  lane.ff += static_cast<double>(base_bits);
  if (lane.dsp == 0) {
    lane.ff += static_cast<double>(2 * sum_bits + base_bits + 2 * low_bits + slope_bits);
    lane += adder_cost(sum_bits);
  }
  lane += requantise_stage_cost(*this, {sum_bits});
  lane += in_block_memory(*this) ? block_memory_cost(bits, words)
                                 : table_cost(bits, words, design.find_memory(file));
  Cost cost = output_cost(lanes * out_bits, piecewise_stages);
  cost += scaled(lane, static_cast<double>(lanes));
  return cost;
}

Paths PiecewiseModule::paths(const Technology& technology) const {
  const Path product = product_path(low_operand(*this), slope_operand(*this), multiplier);
  return {rom_path(word_bits(*this), pieces(*this), in_block_memory(*this), technology), product,
          summand_path(product, sum_bits), rounding_path(*this, {sum_bits}, technology)};
}

StepRow PiecewiseModule::step() {
  return {"piecewise", element_rule, fold_lanes, output_interval, nullptr, add_piecewise};
}

ModuleRow PiecewiseModule::row() {
  return row_of_module<PiecewiseModule>(
      {.folder = "elementwise",
       .doc = "function in straight pieces",
       .uses = {"mase_multiply_stage", "mase_requantise_stage", "mase_rom", "mase_skid"},
       .inputs = {"in"},
       .outputs = {"out"}});
}

}  // namespace mase::design
