// SPDX-License-Identifier: Apache-2.0
// Seeds dropout and similar layers.
#include "torch/train/draws.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <algorithm>
#include <mutex>

#include "base/random.hpp"
#include "ir/train_mode.hpp"

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

bool draws_by_row(const ir::Graph& graph) {
  return std::ranges::all_of(graph.order(), [&](ir::NodeId id) {
    return graph.node(id).op == "aten::dropout" || !ir::may_draw(graph, graph.node(id));
  });
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
