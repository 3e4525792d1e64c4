// SPDX-License-Identifier: Apache-2.0
// Paths of matrix modules.
#include <algorithm>

#include "hardware/design/handshake/linear.hpp"
#include "hardware/design/modules/paths.hpp"

namespace mase::design {
namespace {

/// hw_templates/matrix/mase_dot with Booth rows: four of them one after another.
Path booth_path(const ModuleParameters& p, std::int64_t simd) {
  const int bits = signed_bits(p, "AW", "ASIGNED") + signed_bits(p, "WW", "WSIGNED");
  const auto rows = static_cast<double>(std::min<std::int64_t>(simd, 4));
  return {.what = "rows of products", .luts = 1, .chains = rows, .carry = bits + rows};
}

/// Of the tool's multipliers: from one DSP block to the next, or into a tree of adders.
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

/// hw_templates/matrix/mase_multiply_accumulate: `columns` words for each of `rows`.
Paths datapath_paths(const Instance& instance, const Technology& technology, std::int64_t columns,
                     std::int64_t rows, std::int64_t simd, std::int64_t pe) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t acc = p.integer("ACCW"), word = pe * simd * p.integer("WW"),
                     words = columns * rows;
  Path accumulator{.what = "accumulator", .chains = 1, .carry = static_cast<double>(acc)};
  accumulator.readers = static_cast<double>(pe * acc);
  Path weights{.what = "weights",
               .from = weights_in_block.holds(word, words) ? Source::memory : Source::logic,
               .far = p.integer("MULTIPLIER") == 2 ? 0.0 : 1.0};
  return {weights,
          p.integer("MULTIPLIER") == 2 ? booth_path(p, simd) : dot_path(p, simd, technology),
          accumulator,
          rounding_path(p, {static_cast<int>(acc)}, technology),
          rom_path(word, words, weights_in_block.holds(word, words), technology),
          counter_path(words, technology)};
}

/// A path that ends in the multipliers of all outputs.
void go_to_multipliers(Path& path, const ModuleParameters& p, double far) {
  path.readers = static_cast<double>(p.integer("PE"));
  path.far = far;
}

/// From the last of the registers on the operands' way.
Path moved_path(const ModuleParameters& p) {
  Path path{.what = "operands"};
  go_to_multipliers(path, p, 1.0);
  return path;
}

}  // namespace

Paths linear_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t sf = p.integer("SF"), nf = p.integer("NF"), simd = p.integer("SIMD");
  Paths paths =
      datapath_paths(instance, technology, sf, nf * p.integer("SETS"), simd, p.integer("PE"));
  if (nf == 1) return paths;
  Path steps = counter_path(nf, technology);
  steps.what = "steps";
  steps.luts += 1;
  const std::int64_t beat = simd * p.integer("AW");
  const bool block = replay_in_block.holds(beat, sf);
  Path kept = rom_path(beat, sf, block, technology);
  kept.what = "kept operands";
  // The choice between a new beat and a word of a block memory, whose register the operands' is.
  if (!block) kept.readers *= static_cast<double>(ceiling(sf, 1 << technology.lut_inputs));
  if (block) kept.luts = 1;
  if (block && operand_stages(p) == 0) go_to_multipliers(kept, p, 1.5);
  if (block && operand_stages(p) > 0) paths.push_back(moved_path(p));
  paths.push_back(steps);
  paths.push_back(kept);
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
