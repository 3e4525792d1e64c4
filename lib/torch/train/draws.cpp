// SPDX-License-Identifier: Apache-2.0
// Seeding of dropout and its like.
#include "torch/train/draws.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>

#include "base/random.hpp"
#include "ir/op_table.hpp"

namespace mase::train {
namespace {

constexpr std::array<std::string_view, 6> drawing_ops{
    "aten::dropout", "aten::feature_dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout",
    "aten::rrelu",   "aten::native_dropout"};

std::uint64_t mixed(std::int64_t seed, std::int64_t step) {
  const auto low = [](std::int64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::int64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const auto words = philox({low(step), high(step), 0, 0}, {low(seed), high(seed)});
  return words[0] | static_cast<std::uint64_t>(words[1]) << 32;
}

}  // namespace

bool draws_numbers(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](ir::NodeId id) {
    return std::ranges::find(drawing_ops, ir::base_op(graph.node(id).op)) != drawing_ops.end();
  });
}

void seed_step(std::int64_t seed, std::int64_t step) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(mixed(seed, step));
}

}  // namespace mase::train
