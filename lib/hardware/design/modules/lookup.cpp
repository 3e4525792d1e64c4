// SPDX-License-Identifier: Apache-2.0
// A memory for each lane.
#include "hardware/design/modules/lookup.hpp"

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

// Registers before the skid.
constexpr int lookup_stages = 2;

StreamId add_lookup(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const int bits = builder.output().type.width;
  const auto& table = std::get<integer::Lookup>(builder.step.operation).table;
  const LookupModule module{.lanes = builder.fold.in_lanes,
                            .in_bits = builder.input().type.width,
                            .out_bits = bits,
                            .file = builder.vector_memory("table", table, 1, bits)};
  return builder.finish(module, inputs, module.lanes);
}

std::int64_t words_of(const LookupModule& lookup) { return std::int64_t{1} << lookup.in_bits; }

}  // namespace

std::unique_ptr<Handshake> LookupModule::handshake(Stages kept) const {
  return std::make_unique<PipeHandshake>(lookup_stages, kept);
}

Cost LookupModule::cost(const Design& design) const {
  const std::int64_t words = words_of(*this);
  Cost cost = output_cost(lanes * out_bits, lookup_stages);
  const auto tables = static_cast<double>(lanes);
  if (lookup_in_block.holds(out_bits, words)) {  // registers are the block memory's own
    cost += scaled(block_memory_cost(out_bits, words), tables);
    return cost;
  }
  cost.ff += static_cast<double>(2 * lanes * out_bits);
  cost.lut += tables * table_cost(out_bits, words, design.find_memory(file)).lut;
  return cost;
}

Paths LookupModule::paths(const Technology& technology) const {
  const std::int64_t words = words_of(*this);
  return {rom_path(out_bits, words, lookup_in_block.holds(out_bits, words), technology)};
}

StepRow LookupModule::step() {
  return {"lookup", element_rule, fold_lanes, output_interval, nullptr, add_lookup};
}

ModuleRow LookupModule::row() {
  return row_of_module<LookupModule>({.folder = "elementwise",
                                      .doc = "function by table",
                                      .uses = {"mase_rom", "mase_skid"},
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
