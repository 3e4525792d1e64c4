// SPDX-License-Identifier: Apache-2.0
// Measures the cost of fake quantization in a forward pass: the processor time of a quantized graph
// divided by that of the float graph. They run in turns on one thread. The data and weights of
// linear layers, convolutions and matrix products have the format; weights are quantized once, as
// in eval.
//
// FORMAT "frozen" compares the float graph with torch::jit::freeze of the file instead.
//
// Usage: bench_forward MODEL.pt INPUT.npy BATCH FORMAT...
#include <c10/core/InferenceMode.h>
#include <time.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "ir/op_table.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"

namespace mase::backend {
extern "C" Backend* mase_backend();
}

namespace {

using namespace mase;

constexpr int rounds = 21;

double processor_seconds_of(const std::function<void()>& run) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  run();
  return now() - begin;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Normal random numbers in the shape of the example, with another number of rows.
Array batch_like(const Array& example, std::int64_t rows) {
  Shape shape = example.shape();
  if (shape.empty() || example.dtype() != DType::float32)
    config_error("bench_forward needs a float32 input with rows");
  shape[0] = rows;
  Array batch(DType::float32, shape);
  Random random(1);
  for (float& value : batch.mutable_span<float>()) value = static_cast<float>(random.normal());
  return batch;
}

bool is_product(const ir::Graph& graph, const ir::Node& node) {
  const std::string op = ir::classify(graph, node).op;
  return op == "linear" || op == "conv1d" || op == "conv2d" || op == "matmul" || op == "bmm" ||
         op == "grouped_query_attention";
}

ir::Graph quantized(const ir::Graph& graph, const formats::Format& format) {
  ir::Graph copy = graph;
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = copy.node(id);
    if (!is_product(graph, node)) continue;
    for (const char* port : {"data_in", "weight"}) node.formats.emplace(port, format);
  }
  return copy;
}

/// The required share of the speed in float.
constexpr double least_speed = 0.8;

/// Prints the times of a format, and returns whether the goal is met.
bool report(const ir::Graph& graph, const Array& batch, const std::string& text) {
  const auto plain = libtorch::make_evaluator(graph, ir::Level::floating);
  const auto changed =
      libtorch::make_evaluator(quantized(graph, formats::parse_format(text)), ir::Level::quantized);
  std::vector<double> float_seconds, quantized_seconds;
  for (int round = -3; round < rounds; ++round) {
    const double a = processor_seconds_of([&] { plain->run({batch}); });
    const double b = processor_seconds_of([&] { changed->run({batch}); });
    if (round < 0) continue;  // warm-up
    float_seconds.push_back(a);
    quantized_seconds.push_back(b);
  }
  const double a = median(float_seconds), b = median(quantized_seconds);
  const bool met = a / b >= least_speed;
  std::printf("%-14s %-28s float %8.3f ms, quantized %8.3f ms, %.2fx%s\n", graph.name.c_str(),
              text.c_str(), a * 1e3, b * 1e3, a / b, met ? "" : "  missed");
  return met;
}

/// Prints the speed of the float graph relative to the frozen module; returns whether it is as
/// fast.
bool beside_frozen(const std::string& path, const ir::Graph& graph, const Array& batch) {
  c10::InferenceMode guard;
  torch::jit::Module module = torch::jit::load(path);
  module.eval();
  torch::jit::Module frozen = torch::jit::freeze(module);
  libtorch::Executor executor(graph, ir::Level::floating);
  const std::vector<c10::IValue> inputs = {libtorch::view_of(batch)};
  std::vector<double> own, theirs;
  for (int round = -5; round < rounds; ++round) {
    const double a = processor_seconds_of([&] { executor.run(inputs); });
    const double b = processor_seconds_of([&] { frozen.forward(inputs); });
    if (round < 0) continue;  // warm-up
    own.push_back(a);
    theirs.push_back(b);
  }
  const double a = median(own), b = median(theirs);
  std::printf("%-14s %4lld rows: mase %8.3f ms, frozen %8.3f ms, %.2fx\n", graph.name.c_str(),
              static_cast<long long>(batch.shape()[0]), a * 1e3, b * 1e3, b / a);
  return b / a >= 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) config_error("usage: bench_forward MODEL.pt INPUT.npy BATCH FORMAT...");
  backend::mase_backend();  // one thread, memory kept, as the program
  const Array batch = batch_like(read_npy(argv[2]), std::max(1L, std::atol(argv[3])));
  backend::ImportOptions options;
  options.inputs = {batch};
  const ir::Graph graph = libtorch::import_torchscript(argv[1], options);
  bool met = true;
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    met = (word == "frozen" ? beside_frozen(argv[1], graph, batch) : report(graph, batch, word)) &&
          met;
  }
  return met ? 0 : 1;
} catch (const mase::Error& error) {
  std::fprintf(stderr, "bench_forward: %s\n", error.what());
  return 1;
}
