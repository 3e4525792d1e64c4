// SPDX-License-Identifier: Apache-2.0
// How blocks lie on a port, by op, port and rank.
#include <catch2/catch.hpp>

#include "passes/quantization/port_blocks.hpp"

namespace mase {

using passes::block_layout;
using passes::BlockLayout;

TEST_CASE("layers take rows of activations by themselves, and their parameters as a whole") {
  CHECK(block_layout("linear", "data_in", 2) == BlockLayout{true, {}});
  CHECK(block_layout("linear", "data_in", 3) == BlockLayout{true, {}});
  CHECK(block_layout("linear", "data_out", 2) == BlockLayout{true, {}});
  CHECK(block_layout("linear", "weight", 2) == BlockLayout{false, {}});
  CHECK(block_layout("linear", "bias", 1) == BlockLayout{false, {}});
  CHECK(block_layout("lstm", "data_in", 3) == BlockLayout{true, {}});
  CHECK(block_layout("gru_cell", "state", 2) == BlockLayout{true, {}});
  CHECK(block_layout("lstm", "weight_hh", 2) == BlockLayout{false, {}});
  CHECK(block_layout("batch_norm2d", "data_in", 4) == BlockLayout{true, {}});
  CHECK(block_layout("layer_norm", "weight", 1) == BlockLayout{false, {}});
}

TEST_CASE("convolutions put dimensions 0 and 1 together") {
  CHECK(block_layout("conv2d", "data_in", 4) == BlockLayout{true, 3});
  CHECK(block_layout("conv2d", "weight", 4) == BlockLayout{true, 3});
  CHECK(block_layout("conv2d", "bias", 1) == BlockLayout{false, {}});
  CHECK(block_layout("conv1d", "weight", 3) == BlockLayout{true, {}});
  CHECK(block_layout("convtranspose2d", "data_out", 4) == BlockLayout{true, 3});
}

TEST_CASE("functions put leading dimensions together beyond rank 3, and keep matrices whole") {
  for (const char* op : {"add", "mul", "relu", "matmul", "bmm"}) {
    CHECK(block_layout(op, "data_in", 4) == BlockLayout{true, 3});
    // What layers have there: a sum and a norm of one stream read one format.
    CHECK(block_layout(op, "data_in", 3) == block_layout("layer_norm", "data_in", 3));
    CHECK(block_layout(op, "data_in", 2) == BlockLayout{false, {}});
    CHECK(block_layout(op, "data_in", 1) == BlockLayout{false, {}});
  }
}

TEST_CASE("formats without blocks do not change") {
  const auto format = formats::parse_format("integer(8, 4)");
  CHECK(passes::with_block_layout(format, Tree::dict(), "conv2d", "data_in", 4) == format);
}

}  // namespace mase
