// SPDX-License-Identifier: Apache-2.0
// Memories of weights and biases in front of sums of products.
#include "hardware/design/modules/multiply_accumulate.hpp"

#include "hardware/design/modules/primitives.hpp"

namespace mase::design {
namespace {

/// A memory of weights or biases: in block memory where the module wants it there.
Cost constants_cost(const Design& design, std::int64_t width, std::int64_t depth,
                    const std::string& file) {
  const bool block = weights_in_block.holds(width, depth);
  if (design.reloadable) return reload_memory_cost(width, depth, block);
  return block ? block_memory_cost(width, depth)
               : table_cost(width, depth, design.find_memory(file));
}

/// From the register of the memory of biases into the accumulators.
Path biases_path(const MultiplyAccumulate& unit, const ProductShape& shape) {
  const auto bits = static_cast<double>(unit.sum_bits);
  Path path{.what = "biases", .luts = 1, .chains = 1, .carry = bits};
  if (!weights_in_block.holds(shape.pe * unit.bias_bits, shape.rows)) return path;
  path.from = Source::memory;
  return path;
}

}  // namespace

Cost multiply_accumulate_cost(const Design& design, const MultiplyAccumulate& unit,
                              const ProductShape& shape) {
  const std::int64_t words = shape.columns * shape.rows, biases = shape.pe * unit.bias_bits;
  Cost cost = products_cost(unit, shape, words == 2 && !design.reloadable);
  if (unit.has_bias) cost.ff += static_cast<double>(biases);
  cost += constants_cost(design, unit.weight_word(shape), words, unit.weight_file);
  if (unit.has_bias) cost += constants_cost(design, biases, shape.rows, unit.bias_file);
  cost += counter_cost(shape.columns);
  if (shape.rows == 1)
    cost.ff +=
        static_cast<double>((unit.operand_stages.value_or(0) - unit.weight_stages.value_or(0)) *
                            log2_ceiling(shape.columns));
  if (shape.rows > 1) cost += counter_cost(words);
  if (unit.has_bias) cost += counter_cost(shape.rows);
  return cost;
}

Paths multiply_accumulate_paths(const MultiplyAccumulate& unit, const ProductShape& shape,
                                const Technology& technology) {
  const std::int64_t word = unit.weight_word(shape), words = shape.columns * shape.rows;
  const bool block = weights_in_block.holds(word, words);
  Paths paths = products_paths(unit, shape, block ? blocks_of(word, words, technology) : Blocks{},
                               technology);
  paths.push_back(rom_path(word, words, block, technology));
  paths.push_back(counter_path(words, technology));
  if (unit.has_bias) paths.push_back(biases_path(unit, shape));
  return paths;
}

}  // namespace mase::design
