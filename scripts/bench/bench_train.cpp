// SPDX-License-Identifier: Apache-2.0
// Measures training steps per second of processor time on generated rows with one thread:
// gathering, forward, loss, backward and optimiser. Prints one number, which scripts/bench/train.py
// compares with PyTorch. The formats apply to these ports of every linear and convolution layer.
//
// MODEL is a built-in model, or a TorchScript file with the example input FILE.npy.
//
// Usage: bench_train MODEL BATCH_SIZE STEPS [PORT=FORMAT ...]
#include <time.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "backend/backend.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "data/assemble.hpp"
#include "models/registry.hpp"

namespace mase::backend {
extern "C" Backend* mase_backend();
}

namespace {

using namespace mase;

/// A graph and the data it is trained on.
struct Model {
  ir::Graph graph;
  Shape sample_shape;
  int classes;
};

Model read_model(backend::Backend& backend, const std::string& name) {
  if (const models::ModelRow* row = models::find_model(name))
    return {row->build(row->sample_shape, row->classes, 0), row->sample_shape, row->classes};
  const std::filesystem::path file = name;
  if (file.extension() != ".pt") config_error("unknown model " + name);
  backend::ImportOptions options;
  options.inputs = {read_npy(std::filesystem::path(file).replace_extension(".npy"))};
  ir::Graph graph = backend.import_model(file, options).graph;
  const Shape shape = options.inputs[0].shape(),
              scores = graph.node(graph.order().back()).info.shape;
  return {std::move(graph), Shape(shape.begin() + 1, shape.end()), static_cast<int>(scores.back())};
}

/// Rows of normal random numbers, whose class is the index of the largest of the first features.
data::Dataset make_data(const Model& model, std::int64_t rows) {
  data::Dataset set;
  Shape shape{rows};
  shape.insert(shape.end(), model.sample_shape.begin(), model.sample_shape.end());
  set.name = "made";
  Array inputs(DType::float32, shape);
  data::Target target = data::class_target({rows}, data::numbered_classes(model.classes));
  Random random(1);
  for (float& value : inputs.mutable_span<float>()) value = static_cast<float>(random.normal());
  const auto width = static_cast<std::size_t>(inputs.size() / rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* from = inputs.span<float>().data() + static_cast<std::size_t>(row) * width;
    const auto count = std::min<std::size_t>(width, static_cast<std::size_t>(model.classes));
    target.values.mutable_span<std::int64_t>()[static_cast<std::size_t>(row)] =
        std::max_element(from, from + count) - from;
    (row == 0 ? set.validation : set.train).push_back(row);
  }
  set.inputs = {{"x", std::move(inputs)}};
  set.targets = {std::move(target)};
  return set;
}

/// Applies "PORT=FORMAT" to the layers with a datapath.
void add_format(ir::Graph& graph, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) config_error("expected PORT=FORMAT, found " + text);
  const std::string port = text.substr(0, equals);
  const formats::Format format = formats::parse_format(text.substr(equals + 1));
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (node.op == "aten::linear" || node.op == "aten::conv2d") node.formats.emplace(port, format);
  }
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) config_error("usage: bench_train MODEL BATCH_SIZE STEPS [PORT=FORMAT ...]");
  backend::Backend& backend = *backend::mase_backend();  // one thread, memory kept, as the program
  Model model = read_model(backend, argv[1]);
  backend::TrainOptions options;
  options.batch_size = std::stoi(argv[2]);
  options.max_steps = std::stoi(argv[3]);
  options.log_every_n_steps = 1'000'000'000;
  ir::Graph& graph = model.graph;
  for (int i = 4; i < argc; ++i) add_format(graph, argv[i]);
  const data::Dataset set = make_data(model, 10 * std::int64_t{options.batch_size} + 1);
  backend::TrainOptions warm_up = options;
  warm_up.max_steps = std::max(1, *options.max_steps / 10);
  backend.train(graph, set, warm_up, {}, "");
  const double begin = processor_seconds();
  backend.train(graph, set, options, {}, "");
  std::printf("%.2f\n", *options.max_steps / (processor_seconds() - begin));
  return 0;
} catch (const mase::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
