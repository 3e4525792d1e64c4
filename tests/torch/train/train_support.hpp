// SPDX-License-Identifier: Apache-2.0
// Small data sets and graphs for the training tests, and the options whose results stock PyTorch
// gave.
#pragma once

#include <string>

#include "data/dataset.hpp"
#include "models/builder.hpp"
#include "models/registry.hpp"
#include "support/message_of.hpp"
#include "torch/train/trainer.hpp"

namespace train_support {

using namespace mase;

/// ((37 i + 11 k) mod 64 - 32) / 128: exact in float32 and easy to write in another language.
inline Array patterned(const Shape& shape, std::int64_t k) {
  Array array(DType::float32, shape);
  auto values = array.mutable_span<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((static_cast<std::int64_t>(i) * 37 + k * 11) % 64 - 32) / 128.0f;
  return array;
}

/// Linear(4, 5), ReLU, Linear(5, 3) with patterned weights, of [4] or of [positions, 4].
inline ir::Graph two_layers(const Shape& row = {4}) {
  models::Builder builder("two", "Two", row, 0);
  const auto linear = [&](const char* path, std::int64_t outputs) {
    row.size() == 1 ? builder.linear(path, outputs) : builder.token_linear(path, outputs);
  };
  builder.container("layers", "Sequential");
  linear("layers.0", 5);
  builder.relu("layers.1");
  linear("layers.2", 3);
  ir::Graph graph = builder.finish();
  for (std::size_t k = 0; k < graph.tensor_order.size(); ++k) {
    Array& value = graph.tensors.at(graph.tensor_order[k]).value;
    value = patterned(value.shape(), static_cast<std::int64_t>(k));
  }
  return graph;
}

/// 12 training rows, and the first 3 again for validation.
inline data::Dataset twelve_rows() {
  data::Dataset set;
  set.name = "twelve";
  set.sha256 = "12";
  set.inputs = {{"x", Array(DType::float32, {12, 4})}};
  set.targets = {{"y", "classification", Array(DType::int64, {12}), {"a", "b", "c"}}};
  for (std::int64_t r = 0; r < 12; ++r) {
    for (std::int64_t c = 0; c < 4; ++c)
      set.inputs.front().values.mutable_span<float>()[static_cast<std::size_t>(r * 4 + c)] =
          static_cast<float>((r * 13 + c * 29 + r * c) % 32 - 16) / 8.0f;
    set.targets.front().values.mutable_span<std::int64_t>()[static_cast<std::size_t>(r)] = r % 3;
    set.train.push_back(r);
  }
  set.validation = {0, 1, 2};
  return set;
}

inline backend::TrainOptions stock_options(const std::string& optimizer) {
  backend::TrainOptions options;
  options.optimizer = optimizer;
  options.learning_rate = optimizer == "sgd" ? 0.05 : 0.01;
  options.weight_decay = optimizer == "sgd" ? 0.01 : optimizer == "adam" ? 0.02 : 0.1;
  options.label_smoothing = 0.1;
  options.batch_size = 12;
  options.max_steps = 20;
  return options;
}

inline ir::Graph build(const std::string& model, std::uint64_t seed = 0) {
  const models::ModelRow* row = models::find_model(model);
  REQUIRE(row);
  return row->build(row->sample_shape, row->classes, seed);
}

inline void check_same_bits(const ir::Graph& a, const ir::Graph& b) {
  for (const auto& [path, tensor] : a.tensors) {
    INFO(path);
    CHECK(tensor.value.same_bits(b.tensors.at(path).value));
  }
}

/// Puts a dropout with share `p` behind the node `name`.
inline void add_dropout(ir::Graph& graph, const std::string& name, double p) {
  const ir::NodeId source = graph.find_node(name)->id;
  const ir::NodeId next = graph.users(source).front();
  ir::Node node;
  node.name = "dropout";
  node.kind = ir::NodeKind::call_function;
  node.target = "torch.nn.functional.dropout";
  node.op = "aten::dropout";
  node.info = graph.node(source).info;
  node.args = {{"input", ir::NodeRef{source}}, {"p", p}, {"train", ir::TrainingFlag{}}};
  const ir::NodeId added = graph.add(std::move(node), next);
  for (ir::Argument& argument : graph.node(next).args) argument.value.replace_node(source, added);
}

/// Puts formats onto ports of every node with this operator.
inline void add_formats(ir::Graph& graph, const std::string& op,
                        const std::vector<std::pair<std::string, std::string>>& formats) {
  for (const ir::NodeId id : graph.order())
    if (graph.node(id).op == op)
      for (const auto& [port, text] : formats)
        graph.node(id).formats.insert_or_assign(port, formats::parse_format(text));
}

/// A snapshot with its own copy of the graph.
struct Saved {
  ir::Graph graph, deployed;
  std::string state;
  std::int64_t step = 0, epoch = 0;
  bool best = false;
};

inline backend::TrainCallbacks keep(std::vector<Saved>& saved) {
  return {{}, [&saved](const backend::Snapshot& snapshot) {
            saved.push_back({*snapshot.graph, snapshot.deployed ? *snapshot.deployed : ir::Graph(),
                             snapshot.state, snapshot.step, snapshot.epoch, snapshot.best});
          }};
}

/// Trains once without a stop and once more from every snapshot; all must end with the same bits.
inline void check_resume(const ir::Graph& start, const data::Dataset& set,
                         const backend::TrainOptions& options) {
  std::vector<Saved> saved;
  ir::Graph whole = start;
  const backend::TrainResult result = train::run_training(whole, set, options, keep(saved), "");
  REQUIRE(saved.size() > 3);
  bool middle = false;
  for (Saved& snapshot : saved) {
    INFO("resumed at step " << snapshot.step);
    middle = middle || snapshot.step % 11 != 0;
    ir::Graph resumed = snapshot.graph;
    const backend::TrainResult again =
        train::run_training(resumed, set, options, {}, snapshot.state);
    check_same_bits(resumed, whole);
    for (const ir::NodeId id : whole.order())
      CHECK((resumed.node(id).formats == whole.node(id).formats));
    CHECK(again.steps == result.steps);
    CHECK(again.best_validation.loss == result.best_validation.loss);
  }
  CHECK(middle);
}

inline backend::TrainOptions short_run() {
  backend::TrainOptions options;
  options.batch_size = 64;  // 11 batches of 700 rows
  options.max_epochs = 3;
  options.checkpoint_every_n_steps = 4;
  options.learning_rate = 0.01;
  return options;
}

using test::message_of;

}  // namespace train_support
