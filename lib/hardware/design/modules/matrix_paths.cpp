// SPDX-License-Identifier: Apache-2.0
// Paths of matrix modules.
#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/timing/handshake/linear.hpp"

namespace mase::design {
namespace {

/// hw_templates/matrix/mase_dot with Booth rows: four of them one after another. Weights come from
/// the registers of their block memories, if they are in some.
Path booth_path(const ModuleParameters& p, std::int64_t simd, const Blocks& blocks) {
  const int bits = signed_bits(p, "AW", "ASIGNED") + signed_bits(p, "WW", "WSIGNED");
  const auto rows = static_cast<double>(std::min<std::int64_t>(simd, 4));
  Path path{.what = "rows of products", .luts = 1, .chains = rows, .carry = bits + rows};
  if (weight_stages(p) > 0 || blocks.count == 0) return path;
  path.from = Source::memory;
  return path;
}

/// The path of the tool's multipliers: from one DSP block to the next, or into a tree of adders.
Path dot_path(const ModuleParameters& p, std::int64_t simd, const Technology& technology) {
  const int a = signed_bits(p, "AW", "ASIGNED"), b = signed_bits(p, "WW", "WSIGNED");
  const auto bits = static_cast<double>(std::min<std::int64_t>(a + b, p.integer("ACCW")));
  if (dsp_blocks(a, b, a + b) == 0)
    return {.what = "products", .luts = 2, .chains = std::min(a, b) / 2.0, .carry = 2 * bits};
  // Two to six lanes have no cycle for the way to the tree (hw_templates/ecp5/mase_dot_multiply).
  const bool direct = simd > 1 && simd < 7 && product_stages(p) == 0;
  Path path{.what = "products", .from = Source::multiplier, .far = direct ? 1.2 : 0.5};
  if (technology.adds_in_blocks) path.cascades = simd > 1 ? 1 : 0;
  if (!technology.adds_in_blocks && direct) path.chains = 1;
  if (!technology.adds_in_blocks && direct) path.carry = bits;
  return path;
}

/// From hw_templates/matrix/mase_ready to all DSP blocks, which stand where weights and sums want
/// them.
Path multiply_path(const ModuleParameters& p) {
  const int a = signed_bits(p, "AW", "ASIGNED"), b = signed_bits(p, "WW", "WSIGNED");
  const bool blocks = p.integer("MULTIPLIER") != 2 && dsp_blocks(a, b, a + b) > 0;
  return {.what = "enable of multipliers", .far = blocks ? 0.9 : 0.0};
}

/// To the multipliers, from block memories or (none) from registers. Few blocks stand beside the
/// multipliers, many of them far away; every stage takes a part of the way. A choice among blocks
/// above each other stands on the first part.
Path weights_path(const ModuleParameters& p, const Technology& technology, const Blocks& blocks,
                  std::int64_t multipliers) {
  Path path{.what = "weights", .from = blocks.count > 0 ? Source::memory : Source::logic};
  const auto parts = static_cast<double>(1 + weight_stages(p));
  path.blocks =
      static_cast<double>(blocks.count) / (parts * parts * static_cast<double>(multipliers));
  if (blocks.deep > 1) path.luts = choice_luts_deep(blocks.deep, technology);
  if (p.integer("MULTIPLIER") != 2) path.far = weight_stages(p) > 0 ? 0.3 : 0.4;
  return path;
}

/// hw_templates/matrix/mase_products; `blocks` that the weights are in.
Paths products_paths(const ModuleParameters& p, const Technology& technology, std::int64_t simd,
                     std::int64_t pe, const Blocks& blocks) {
  const std::int64_t acc = p.integer("ACCW");
  Path accumulator{.what = "accumulator", .chains = 1, .carry = static_cast<double>(acc)};
  accumulator.readers = static_cast<double>(pe * acc);
  return {
      weights_path(p, technology, blocks, simd * pe),
      p.integer("MULTIPLIER") == 2 ? booth_path(p, simd, blocks) : dot_path(p, simd, technology),
      multiply_path(p), accumulator, rounding_path(p, {static_cast<int>(acc)}, technology)};
}

/// From the register of the memory of biases into the accumulators.
Path biases_path(const ModuleParameters& p, std::int64_t width, std::int64_t rows) {
  const auto bits = static_cast<double>(p.integer("ACCW"));
  Path path{.what = "biases", .luts = 1, .chains = 1, .carry = bits};
  if (!weights_in_block.holds(width, rows)) return path;
  path.from = Source::memory;
  return path;
}

/// hw_templates/matrix/mase_multiply_accumulate: `columns` words for each of `rows`.
Paths datapath_paths(const Instance& instance, const Technology& technology, std::int64_t columns,
                     std::int64_t rows, std::int64_t simd, std::int64_t pe) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t word = pe * simd * p.integer("WW"), words = columns * rows;
  const bool block = weights_in_block.holds(word, words);
  Paths paths = products_paths(p, technology, simd, pe,
                               block ? blocks_of(word, words, technology) : Blocks{});
  paths.push_back(rom_path(word, words, block, technology));
  paths.push_back(counter_path(words, technology));
  if (p.integer("HAS_BIAS") != 0) paths.push_back(biases_path(p, pe * p.integer("BW"), rows));
  return paths;
}

/// A path that ends in the multipliers of all outputs.
void go_to_multipliers(Path& path, const ModuleParameters& p, double far) {
  path.readers = static_cast<double>(p.integer("PE"));
  path.far = far;
}

/// From the last of the registers on the operands' way.
Path moved_path(const ModuleParameters& p) {
  Path path{.what = "operands"};
  go_to_multipliers(path, p, 0.6);
  return path;
}

}  // namespace

namespace {

/// The paths of what keeps the beats of a row for `nf` passes.
void add_row_paths(Paths& paths, const ModuleParameters& p, const Technology& technology) {
  const std::int64_t sf = p.integer("SF"), nf = p.integer("NF"), simd = p.integer("SIMD");
  if (nf == 1) return;
  Path steps = counter_path(nf, technology);
  steps.what = "steps";
  steps.luts += 1;
  const std::int64_t beat = simd * p.integer("AW");
  const bool block = replay_in_block.holds(beat, sf);
  Path kept = memory_path(beat, sf, block, technology);
  kept.what = "kept operands";
  // The choice between a new beat and a word of a block memory, whose register the operands' is.
  if (block) kept.luts = 1;
  if (block && operand_stages(p) == 0) go_to_multipliers(kept, p, 1.5);
  if (block && operand_stages(p) > 0) paths.push_back(moved_path(p));
  paths.push_back(steps);
  paths.push_back(kept);
}

}  // namespace

Paths linear_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  Paths paths =
      datapath_paths(instance, technology, p.integer("SF"), p.integer("NF") * p.integer("SETS"),
                     p.integer("SIMD"), p.integer("PE"));
  add_row_paths(paths, p, technology);
  return paths;
}

Paths matmul_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t words = p.integer("SETS") * p.integer("NF") * p.integer("SF"),
                     lanes = p.integer(p.integer("TRANSPOSED") != 0 ? "PE" : "SIMD"),
                     width = lanes * p.integer("WW");
  const bool block = window_in_block.holds(width, 2 * words);
  const std::int64_t banks = p.integer(p.integer("TRANSPOSED") != 0 ? "SIMD" : "PE");
  Blocks blocks = block ? blocks_of(width, 2 * words, technology) : Blocks{};
  blocks.count *= banks;
  Paths paths = products_paths(p, technology, p.integer("SIMD"), p.integer("PE"), blocks);
  Path read = memory_path(width * banks, 2 * words, block, technology);
  read.what = "words of the matrices";
  paths.push_back(read);
  // The ends of the writer's four counters choose how far the next beat lies from this one; its
  // place and its bank are written to from registers.
  const auto lines = static_cast<double>(log2_ceiling(2 * words));
  const auto all = p.integer("SETS") * p.integer("NF") * p.integer("SF") * banks;
  paths.push_back({.what = "matrix writer",
                   .luts = 2 + tree_luts(log2_ceiling(all) + 1, technology),
                   .readers = lines});
  paths.push_back({.what = "matrix address", .luts = 1, .chains = 1, .carry = lines});
  paths.push_back({.what = "written words",
                   .luts = block ? 2.0 : 3.0,
                   .readers = static_cast<double>(width * banks)});
  add_row_paths(paths, p, technology);
  return paths;
}

/// Two levels of a tree of adders, or the bias and rounding behind the last of them.
Paths constant_linear_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t inputs = p.integer("INPUTS"), bits = p.integer("WW"), acc = p.integer("ACCW"),
                     outputs = p.integer("OUTPUTS");
  const int operand = signed_bits(p, "AW", "ASIGNED"), groups = log2_ceiling(ceiling(inputs, 4));
  const auto widest = static_cast<double>(
      std::min<std::int64_t>(acc, operand + 2 + groups + (bits > 1 ? bits / 2 + 2 : 0)));
  Path subsets{.what = "sums of four", .chains = 2, .carry = operand + 2.0, .readers = 8};
  Path tree{.what = "sums", .chains = bits > 2 || groups > 1 ? 2.0 : 1.0, .carry = widest};
  // A sum of four is used by one column in 15, and by half as many at both its ends.
  tree.readers = std::max(1.0, static_cast<double>(outputs * bits) / 15);
  Path end = rounding_path(p, {static_cast<int>(acc)}, technology);
  if (p.integer("HAS_BIAS") != 0) {
    end.chains += 1;
    end.carry += static_cast<double>(acc);
  }
  return {subsets, tree, end};
}

Paths depthwise_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  return datapath_paths(instance, technology, p.integer("N"), p.integer("BLOCKS"),
                        p.integer("TAPS") * p.integer("CHANNELS"),
                        p.integer("GROUPS") * p.integer("OUTPUTS"));
}

}  // namespace mase::design
