// SPDX-License-Identifier: Apache-2.0
// TorchScript that cuts tensors into blocks and rounds their elements.
#include "formats/microscaling/mx_script.hpp"

#include "base/from_front.hpp"
#include "base/text.hpp"
#include "formats/block/block_torchscript.hpp"
#include "formats/tiling.hpp"

namespace mase::formats {
namespace {

// Sizes of the first `count` dimensions of the tensor `name`, and then `more`.
std::string sizes(const std::string& name, int count, std::vector<std::string> more) {
  std::vector<std::string> all;
  for (int d = 0; d < count; ++d) all.push_back(name + ".size(" + std::to_string(d) + ")");
  all.insert(all.end(), more.begin(), more.end());
  return "[" + join(all, ", ") + "]";
}

// The dimension counted from the front; Error(Fault::config) when it does not exist.
int dimension_of(int block_dim, int rank) {
  static_cast<void>(line_tiling(Shape(static_cast<std::size_t>(rank), 1), 1, block_dim));
  return static_cast<int>(*from_front(block_dim, static_cast<std::size_t>(rank)));
}

// A scalar becomes a vector.
std::string input(int rank) { return rank == 0 ? "x.reshape([1])" : "x"; }
std::string output(int rank, const std::string& text) {
  return "  return " + text + (rank == 0 ? ".squeeze(0)\n" : ".contiguous()\n");
}

}  // namespace

BlockScript line_script(std::int64_t block_size, int block_dim, int rank) {
  const int dimensions = std::max(rank, 1);
  const int d = dimension_of(block_dim, dimensions);
  const std::string move = ".transpose(" + std::to_string(d) + ", -1)";
  const std::string size = std::to_string(block_size);
  BlockScript script;
  script.dimensions = "[-1]";
  script.lines = "  lines = " + input(rank) + move +
                 "\n"
                 "  n = lines.size(-1)\n"
                 "  b = max(1, min(n, " +
                 size +
                 "))\n"
                 "  k = (n + b - 1) // b\n"
                 "  tiles = torch.constant_pad_nd(lines, [0, k * b - n]).reshape(" +
                 sizes("lines", dimensions - 1, {"k", "b"}) + ")\n";
  script.result = output(
      rank, "q.reshape(" + sizes("lines", dimensions - 1, {"k * b"}) + ").narrow(-1, 0, n)" + move);
  return script;
}

BlockScript run_script(std::int64_t block_size, int block_dim, int rank) {
  const int dimensions = std::max(rank, 1);
  const std::string d = std::to_string(dimension_of(block_dim, dimensions));
  const std::string size = std::to_string(block_size);
  return {"  lines = torch.movedim(" + input(rank) + ", " + d +
              ", -1)\n"
              "  tiles = lines.reshape([lines.numel() // " +
              size + ", " + size + "])\n",
          "[-1]",
          output(rank, "torch.movedim(q.reshape(" + sizes("lines", dimensions, {}) + "), -1, " + d +
                           ")")};
}

BlockScript tile_script(std::span<const int> parallelism, int rank) {
  const int dimensions = std::max(rank, 1);
  const int tiled = std::min(dimensions, static_cast<int>(parallelism.size()));
  std::vector<std::string> split;
  for (int from_end = tiled; from_end >= 1; --from_end) {
    const std::string p = std::to_string(parallelism[parallelism.size() - from_end]);
    split.push_back("lines.size(-" + std::to_string(from_end) + ") // " + p);
    split.push_back(p);
  }
  return {"  lines = " + input(rank) + "\n  tiles = lines.reshape(" +
              sizes("lines", dimensions - tiled, split) + ")\n",
          tiled == 2 ? "[-3, -1]" : "[-1]",
          output(rank, "q.reshape(" + sizes("lines", dimensions, {}) + ")")};
}

std::string minifloat_lines(const MinifloatSpec& spec) {
  // The power above the step's exponent, for magnitudes within the normal numbers.
  const std::string magnitude = "torch.clamp(torch.abs(y), " + power_text(spec.lowest_exponent()) +
                                ", " + double_text(spec.largest()) + ")";
  return line_text("a = " + magnitude) + significand_text("a") +
         line_text("step = torch.mul(w, " + power_text(-1 - spec.fraction_bits()) + ")") +
         line_text("v = torch.mul(" + rounded_text(spec.rounding, "torch.div(y, step)") +
                   ", step)") +
         line_text("v = torch.copysign(torch.clamp(torch.abs(v), 0.0, " +
                   double_text(spec.largest()) + "), y)");
}

}  // namespace mase::formats
