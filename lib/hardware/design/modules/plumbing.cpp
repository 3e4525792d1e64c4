// SPDX-License-Identifier: Apache-2.0
// The plumbing family of hardware modules: rows, handshake models and costs.
#include <algorithm>
#include <array>
#include <bit>

#include "hardware/design/handshake/streams.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/fifo.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/skid.hpp"
#include "hardware/design/modules/stream_fork.hpp"
#include "hardware/design/modules/stream_resize.hpp"

namespace mase::design {
namespace {

using Made = std::unique_ptr<Handshake>;

Made make_repeat(const ModuleParameters& parameters, Stages) {
  return std::make_unique<NarrowHandshake>(parameters.integer("COUNT") /
                                           parameters.integer("LANES"));
}

Made make_embedding(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<NarrowHandshake>(parameters.integer("BEATS"), 1, kept);
}

Made make_concat(const ModuleParameters& parameters, Stages) {
  return std::make_unique<ConcatHandshake>(parameters.integer("A_BEATS"),
                                           parameters.integer("B_BEATS"));
}

Made make_insert(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<InsertHandshake>(
      parameters.integer("BEFORE"), parameters.integer("BEATS"), parameters.integer("AFTER"), kept);
}

Made make_slice(const ModuleParameters& parameters, Stages) {
  return std::make_unique<SliceHandshake>(parameters.integer("BEATS"), parameters.integer("FIRST"),
                                          parameters.integer("COUNT"));
}

Made make_gather(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<GatherHandshake>(parameters.integer("IN"), parameters.integer("OUT"),
                                           parameters.integer("START"), kept);
}

/// A memory with a register behind it.
Cost registered(Cost memory, std::int64_t width) {
  memory.ff += static_cast<double>(width);
  return memory;
}

Cost repeat_cost(const Design&, const Instance& instance) {
  const std::int64_t width = instance.parameter("W"),
                     beats = instance.parameter("COUNT") / instance.parameter("LANES");
  Cost cost = skid_cost(width);
  cost += counter_cost(beats);
  cost.lut += 2;
  cost.ff += static_cast<double>(width + 1);
  return cost;
}

Cost embedding_cost(const Design& design, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t width = p.integer("W"), beats = p.integer("BEATS"), rows = p.integer("ROWS");
  const std::int64_t depth = rows * beats, address = std::max(1, log2_ceiling(depth));
  const bool block = lookup_in_block.holds(width, depth);
  Cost cost = skid_cost(width);
  cost += design.reloadable ? reload_memory_cost(width, depth, block)
          : block           ? block_memory_cost(width, depth)
                            : table_cost(width, depth, image_of(design, instance, "TABLE_FILE"));
  cost += counters_cost(std::array{beats, depth}, 1.0);
  const int shifts = std::popcount(static_cast<std::uint64_t>(beats));
  for (int i = 1; i < shifts; ++i) cost += adder_cost(address);
  if (rows < std::int64_t{1} << p.integer("IW")) cost.lut += static_cast<double>(p.integer("IW"));
  cost.ff += 2;
  return cost;
}

Cost concat_cost(const Design&, const Instance& instance) {
  const int index =
      log2_ceiling(std::max(instance.parameter("A_BEATS"), instance.parameter("B_BEATS")));
  Cost cost = skid_cost(instance.parameter("W"));
  cost.lut += 4 + counter_luts * index;
  cost.ff += index + 1;
  cost.carry += carry_chain(index);
  return cost;
}

Cost insert_cost(const Design& design, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t width = p.integer("W"), depth = p.integer("DEPTH");
  const bool block = lookup_in_block.holds(width, depth);
  Cost cost = skid_cost(width);
  cost += design.reloadable ? reload_memory_cost(width, depth, block)
          : block           ? block_memory_cost(width, depth)
                            : table_cost(width, depth, image_of(design, instance, "IMAGE_FILE"));
  cost += counters_cost(
      std::array{p.integer("BEFORE") + p.integer("BEATS") + p.integer("AFTER"), depth});
  cost.lut += 4;
  cost.ff += static_cast<double>(2 * width + 5);
  return cost;
}

Cost slice_cost(const Design&, const Instance& instance) {
  const int index = std::max(1, log2_ceiling(instance.parameter("BEATS")));
  Cost cost = skid_cost(instance.parameter("W"));
  cost.lut += std::max(0, 2 * index - 2);
  cost.ff += index;
  cost.carry += 2 * carry_chain(index);
  return cost;
}

/// Two frames, the image of places, and the counters of writer and reader.
Cost gather_cost(const Design& design, const Instance& instance) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t in = p.integer("IN"), run = p.integer("RUN"), runs = p.integer("OUT") / run;
  const std::int64_t width = p.integer("LANES") * p.integer("DW");
  const std::int64_t place = std::max(1, log2_ceiling(in));
  const std::int64_t word = place + (p.integer("PADS") != 0 ? 1 : 0);
  Cost cost = skid_cost(width);
  cost += window_in_block.holds(width, 2 * in) ? block_memory_cost(width, 2 * in)
                                               : registered(lut_memory_cost(width, 2 * in), width);
  cost += lookup_in_block.holds(word, runs)
              ? block_memory_cost(word, runs)
              : table_cost(word, runs, image_of(design, instance, "FILE"));
  cost += counters_cost(std::array{in, in + 1, runs, run});
  cost.carry += carry_chain(place + 1);  // the comparison of what is there with what is needed
  cost.lut += 10 + static_cast<double>(place) / 2;
  if (run > 1) cost += adder_cost(std::min<std::int64_t>(place, log2_ceiling(run) + 1));
  cost.ff += 7;
  return cost;
}

}  // namespace

std::vector<ModuleRow> plumbing_modules() {
  using List = std::vector<std::string>;
  const List in{"in"}, out{"out"}, skid{"mase_skid"};
  return {
      SkidModule::row(),
      FifoModule::row(),
      ForkModule::row(),
      ResizeModule::row(),
      {.name = "mase_stream_regroup",
       .folder = "plumbing",
       .doc = "the same where neither number divides the other",
       .uses = skid},
      {.name = "mase_repeat",
       .folder = "plumbing",
       .doc = "every element several times",
       .uses = skid,
       .inputs = in,
       .outputs = out,
       .handshake = make_repeat,
       .cost = repeat_cost,
       .paths = repeat_paths},
      {.name = "mase_embedding",
       .folder = "plumbing",
       .doc = "rows of a table",
       .uses = {"mase_skid", "mase_rom"},
       .reloads = true,
       .inputs = in,
       .outputs = out,
       .handshake = make_embedding,
       .cost = embedding_cost,
       .paths = embedding_paths},
      {.name = "mase_concat",
       .folder = "plumbing",
       .doc = "streams one after another",
       .uses = skid,
       .inputs = {"a", "b"},
       .outputs = out,
       .handshake = make_concat,
       .cost = concat_cost,
       .paths = concat_paths},
      {.name = "mase_insert",
       .folder = "plumbing",
       .doc = "constants around rows",
       .uses = {"mase_skid", "mase_rom"},
       .reloads = true,
       .inputs = in,
       .outputs = out,
       .handshake = make_insert,
       .cost = insert_cost,
       .paths = insert_paths},
      {.name = "mase_slice",
       .folder = "plumbing",
       .doc = "some beats of a row",
       .uses = skid,
       .inputs = in,
       .outputs = out,
       .handshake = make_slice,
       .cost = slice_cost,
       .paths = slice_paths},
      {.name = "mase_gather",
       .folder = "plumbing",
       .doc = "beats of a frame in another order",
       .uses = {"mase_skid", "mase_rom", "mase_window_memory"},
       .inputs = in,
       .outputs = out,
       .handshake = make_gather,
       .cost = gather_cost,
       .paths = gather_paths},
      {.name = "mase_axi_stream_input",
       .folder = "interface",
       .doc = "AXI4-Stream in",
       .uses = skid},
      {.name = "mase_axi_stream_output",
       .folder = "interface",
       .doc = "AXI4-Stream out",
       .uses = skid},
      {.name = "mase_axi_control", .folder = "interface", .doc = "AXI4-Lite registers"},
  };
}

}  // namespace mase::design
