// SPDX-License-Identifier: Apache-2.0
// Seeds dropout and similar layers.
#include "torch/train/draws.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <algorithm>
#include <mutex>

#include "base/random.hpp"
#include "ir/train_mode.hpp"
#include "torch/run/recurrent.hpp"
#include "torch/run/row_draws.hpp"

namespace mase::train {
namespace {

std::uint64_t mixed(std::int64_t seed, std::int64_t step, int rank) {
  const auto low = [](std::int64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::int64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const auto words = philox({low(step), high(step), low(rank), 0}, {low(seed), high(seed)});
  return words[0] | static_cast<std::uint64_t>(words[1]) << 32;
}

}  // namespace

bool draws_numbers(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](ir::NodeId id) { return ir::may_draw(graph, graph.node(id)); });
}

std::vector<const ir::Node*> draws_without_rows(const ir::Graph& graph) {
  std::vector<const ir::Node*> found;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const bool by_row = libtorch::find_draw_by_row(node.op) ||
                        (libtorch::find_recurrent(node.op) && !node.find("batch_sizes"));
    if (ir::may_draw(graph, node) && !by_row) found.push_back(&node);
  }
  return found;
}

void seed_step(std::int64_t seed, std::int64_t step, int rank) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(mixed(seed, step, rank));
}

void seed_device(c10::Device device) {
  if (device.is_cpu()) return;
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(at::detail::getDefaultCPUGenerator().current_seed());
}

}  // namespace mase::train
