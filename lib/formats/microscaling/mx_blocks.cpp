// SPDX-License-Identifier: Apache-2.0
// Which elements of a tensor form the blocks of microscaling formats.
#include "base/error.hpp"
#include "base/from_front.hpp"
#include "formats/microscaling/mx_spans.hpp"

namespace mase::formats {
namespace {

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result *= size;
  return result;
}

}  // namespace

MxBlocks line_blocks(const Shape& shape, std::int64_t block_size, int block_dim) {
  MxBlocks blocks{line_tiling(shape, block_size, block_dim)};
  const Shape counts = blocks.tiling.counts();
  const std::span<const std::int64_t> all(counts);
  const std::size_t dimension = *from_front(block_dim, all.size());
  blocks.outer = product(all.first(dimension));
  blocks.axis = all[dimension];
  blocks.inner = product(all.subspan(dimension + 1));
  return blocks;
}

MxBlocks run_blocks(const Shape& shape, std::int64_t block_size, int block_dim) {
  MxBlocks blocks = line_blocks(shape, 1, block_dim);
  if (blocks.axis % block_size == 0) return line_blocks(shape, block_size, block_dim);
  const std::int64_t count = numel(shape);
  if (count % block_size != 0)
    config_error("profile 'reference' cuts a tensor " + shape_text(shape) + " into runs of " +
                 std::to_string(block_size) + " elements, which do not divide its " +
                 std::to_string(count) + "; change block_size or use profile 'exact'");
  blocks.tiling = {{count}, {std::max<std::int64_t>(1, std::min(block_size, count))}};
  blocks.moves_elements = true;
  return blocks;
}

MxBlocks divided_blocks(const Shape& shape, std::span<const int> parallelism) {
  return {divided_tiling(shape, std::vector<std::int64_t>(parallelism.begin(), parallelism.end()))};
}

}  // namespace mase::formats
