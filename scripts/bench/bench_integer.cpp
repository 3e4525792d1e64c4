// SPDX-License-Identifier: Apache-2.0
// Measures frames per second of the integer model and of LibTorch's float forward pass, on lenet
// without batch norms (as fuse_batch_norm leaves it). They take turns on one thread, and both take
// and return floats.
//
// Usage: bench_integer [batch] [rounds]
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "hardware/integer/interpreter.hpp"
#include "lenet.hpp"
#include "torch/run/executor.hpp"

namespace {

using namespace mase;

/// The formats of configs/lenet_mnist_integer8.toml.
void quantize(ir::Graph& graph) {
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (node.op != "aten::conv2d" && node.op != "aten::linear") continue;
    node.formats.emplace("data_in", formats::parse_format("integer(8, 4)"));
    node.formats.emplace("weight", formats::parse_format("integer(8, 7)"));
    node.formats.emplace("bias", formats::parse_format("integer(8, 6)"));
  }
}

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) try {
  const std::int64_t batch = argc > 1 ? std::atoll(argv[1]) : 256;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 21;
  if (batch < 1 || rounds < 1) config_error("usage: bench_integer [batch] [rounds]");
  at::set_num_threads(1);
  ir::Graph graph = make_lenet();
  quantize(graph);
  const auto integer_run = integer::make_evaluator(graph);
  const auto float_run = libtorch::make_evaluator(graph, ir::Level::floating);
  Array inputs(DType::float32, {batch, 1, 28, 28});
  Random random(1);
  for (float& value : inputs.mutable_span<float>()) value = static_cast<float>(random.normal());
  std::vector<double> integer_seconds, float_seconds;
  for (int round = -2; round < rounds; ++round) {
    const double a = seconds_of([&] { integer_run->run({inputs}); });
    const double b = seconds_of([&] { float_run->run({inputs}); });
    if (round < 0) continue;  // warm-up
    integer_seconds.push_back(a);
    float_seconds.push_back(b);
  }
  const double rows = static_cast<double>(batch);
  const double a = median(integer_seconds), b = median(float_seconds);
  std::printf(
      "lenet, batch %lld: integer model %.0f frames/s, LibTorch float %.0f frames/s, ratio %.2f\n",
      static_cast<long long>(batch), rows / a, rows / b, b / a);
  return 0;
} catch (const mase::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
