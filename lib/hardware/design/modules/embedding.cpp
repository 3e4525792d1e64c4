// SPDX-License-Identifier: Apache-2.0
// A table whose rows are read beat by beat.
#include "hardware/design/modules/embedding.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

// Registers before the skid.
constexpr int embedding_stages = 1;

FoldRule embedding_rule(const Program&, const Step& step, const Fold&) {
  return {1, std::get<integer::Embedding>(step.operation).columns};
}

StreamId add_embedding(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const auto& embedding = std::get<integer::Embedding>(builder.step.operation);
  const std::int64_t lanes = builder.fold.out_lanes;
  const int bits = builder.output().type.width;
  const EmbeddingModule module{
      .id_bits = builder.input().type.width,
      .width = lanes * bits,
      .rows = embedding.rows(),
      .beats = embedding.columns / lanes,
      .table_file = builder.vector_memory("table", embedding.table, lanes, bits)};
  return builder.finish(module, inputs, lanes);
}

}  // namespace

std::unique_ptr<Handshake> EmbeddingModule::handshake(Stages kept) const {
  return std::make_unique<NarrowHandshake>(beats, embedding_stages, kept);
}

Cost EmbeddingModule::cost(const Design& design) const {
  const std::int64_t depth = rows * beats, address = std::max(1, log2_ceiling(depth));
  Cost cost = skid_cost(width);
  cost += kept_image_cost(design, width, depth, table_file);
  cost += counters_cost(std::array{beats, depth}, fitted.embedding_counter_bit);
  const int shifts = std::popcount(static_cast<std::uint64_t>(beats));
  for (int i = 1; i < shifts; ++i) cost += adder_cost(address);
  if (rows < std::int64_t{1} << id_bits) cost.lut += static_cast<double>(id_bits);
  cost.ff += 2;
  return cost;
}

Paths EmbeddingModule::paths(const Technology& technology) const {
  const std::int64_t depth = rows * beats;
  const Path first{.what = "address of the row",
                   .luts = static_cast<double>(std::popcount(static_cast<std::uint64_t>(beats))),
                   .chains = 1,
                   .carry = static_cast<double>(log2_ceiling(depth) + id_bits)};
  return {first, rom_path(width, depth, lookup_in_block.holds(width, depth), technology)};
}

std::vector<Measured<EmbeddingModule>> EmbeddingModule::measured() {
  const auto table = [](int id_bits, std::int64_t width, std::int64_t rows, std::int64_t beats,
                        std::string file) {
    return EmbeddingModule{.id_bits = id_bits,
                           .width = width,
                           .rows = rows,
                           .beats = beats,
                           .table_file = std::move(file)};
  };
  return {{table(4, 8, 16, 1, "16x8"), 24 + 1},
          {table(5, 16, 32, 3, "96x16"), 66 + 4},
          {table(6, 32, 64, 8, "512x32"), 47 + 4, 0, 0.5}};
}

StepRow EmbeddingModule::step() {
  return {"embedding", embedding_rule, fold_lanes, unfolded_interval, nullptr, add_embedding};
}

ModuleRow EmbeddingModule::row() {
  return row_of_module<EmbeddingModule>({.folder = "plumbing",
                                         .doc = "rows of a table",
                                         .uses = {"mase_skid", "mase_rom"},
                                         .reloads = true,
                                         .inputs = {"in"},
                                         .outputs = {"out"}});
}

}  // namespace mase::design
