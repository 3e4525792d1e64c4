// SPDX-License-Identifier: Apache-2.0
// Paths of matrix modules.
#include <algorithm>

#include "hardware/design/modules/multiply_accumulate.hpp"
#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/row_passes.hpp"

namespace mase::design {
Paths matmul_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  const std::int64_t words = p.integer("SETS") * p.integer("NF") * p.integer("SF"),
                     lanes = p.integer(p.integer("TRANSPOSED") != 0 ? "PE" : "SIMD"),
                     width = lanes * p.integer("WW");
  const bool block = window_in_block.holds(width, 2 * words);
  const std::int64_t banks = p.integer(p.integer("TRANSPOSED") != 0 ? "SIMD" : "PE");
  Blocks blocks = block ? blocks_of(width, 2 * words, technology) : Blocks{};
  blocks.count *= banks;
  const SumsOfProducts sums{
      read_group<Operands>(p), read_group<Requantisation>(p), read_group<Multiplication>(p), {}};
  const ProductShape shape{p.integer("SF"), 1, p.integer("SIMD"), p.integer("PE")};
  Paths paths = products_paths(sums, shape, blocks, technology);
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
  add_row_paths(paths, sums, shape, p.integer("NF"), technology);
  return paths;
}

Paths depthwise_paths(const Instance& instance, const Technology& technology) {
  const ModuleParameters& p = instance.parameters;
  return multiply_accumulate_paths(
      read_group<MultiplyAccumulate>(p),
      {p.integer("N"), p.integer("BLOCKS"), p.integer("TAPS") * p.integer("CHANNELS"),
       p.integer("GROUPS") * p.integer("OUTPUTS")},
      technology);
}

}  // namespace mase::design
