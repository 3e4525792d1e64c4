// SPDX-License-Identifier: Apache-2.0
// Training of quantized graphs: schedules, learned steps, folded batch norms, and resuming each.
#include <algorithm>
#include <cmath>

#include "data/metrics.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/train_support.hpp"
#include "torch/train/trainer.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;
using Catch::Contains;

namespace {

/// jsc-mlp or another registry model with these formats on every linear layer.
ir::Graph quantized(const std::string& model, const std::string& data, const std::string& weight) {
  ir::Graph graph = build(model, 1);
  add_formats(graph, "aten::linear", {{"data_in", data}, {"weight", weight}});
  return graph;
}

const data::Dataset& jets() {
  static const data::Dataset set = data::load_dataset("jsc", {});
  return set;
}

std::vector<int> frac_widths(const ir::Graph& graph) {
  std::vector<int> widths;
  for (const ir::NodeId id : graph.order())
    for (const auto& [port, format] : graph.node(id).formats)
      widths.push_back(static_cast<int>(format.fields().at("frac_width").as_int()));
  return widths;
}

/// Loss and accuracy of a graph on validation rows, by a fresh executor.
double validation_loss(const ir::Graph& graph, const data::Dataset& set) {
  libtorch::Executor executor(graph, ir::Level::quantized);
  data::ScoreCounter counter(set.labels().classes());
  const auto rows = static_cast<std::int64_t>(set.validation.size());
  const data::Batch batch = set.batch(set.validation, 0, rows);
  const auto output = executor.run(libtorch::check_inputs(graph, batch.inputs)).toTensor();
  counter.add({output.contiguous().data_ptr<float>(), static_cast<std::size_t>(output.numel())},
              batch.targets.front().span<std::int64_t>());
  return counter.scores().loss;
}

}  // namespace

TEST_CASE("a quantized run resumes with the same bits with every option") {
  const ir::Graph plain = quantized("jsc-mlp", "integer(4, 2, ste=clip)", "integer(3, 2)");
  backend::TrainOptions options = short_run();
  options.optimizer = "adamw";
  options.weight_decay = 0.05;
  check_resume(plain, jets(), options);
  options.quantize_after_steps = 6;
  check_resume(plain, jets(), options);
  options.learn_scales = true;
  check_resume(plain, jets(), options);
  options.accumulate_grad_batches = 2;
  options.fold_batch_norm = true;
  check_resume(plain, jets(), options);
}

TEST_CASE("steps before quantize_after_steps are those of the float model") {
  backend::TrainOptions options = short_run();
  options.max_epochs = 2;
  std::vector<Saved> in_float, late;
  ir::Graph plain = build("jsc-mlp", 1),
            graph = quantized("jsc-mlp", "integer(4, 2)", "integer(3, 2)");
  run_training(plain, jets(), options, keep(in_float), "");
  options.quantize_after_steps = 12;
  const backend::TrainResult result = run_training(graph, jets(), options, keep(late), "");
  REQUIRE(in_float.size() == late.size());
  for (std::size_t i = 0; i < late.size(); ++i) {
    INFO("step " << late[i].step);
    if (late[i].step <= 12)
      check_same_bits(late[i].graph, in_float[i].graph);
    else
      CHECK_FALSE(late[i]
                      .graph.tensors.at("module_list.0.weight")
                      .value.same_bits(in_float[i].graph.tensors.at("module_list.0.weight").value));
    // The first epoch ends after step 11, in float: it is no candidate.
    CHECK(late[i].best == (late[i].step == 22));
  }
  CHECK(result.best_validation.loss == Approx(validation_loss(graph, jets())).epsilon(1e-6));
}

TEST_CASE("learned steps leave a bad start and stay powers of two") {
  // Nearly all data of about 1 saturates at 1/8. (Behind a batch norm no scale would matter.)
  ir::Graph fixed = quantized("jsc-three-linear", "integer(4, 6)", "integer(4, 2)");
  ir::Graph learned = fixed;
  backend::TrainOptions options = short_run();
  options.max_epochs = 20;
  const backend::TrainResult before = run_training(fixed, jets(), options, {}, "");
  options.learn_scales = true;
  std::vector<Saved> saved;
  const backend::TrainResult after = run_training(learned, jets(), options, keep(saved), "");
  CHECK(after.best_validation.loss < before.best_validation.loss);
  CHECK(frac_widths(fixed) == std::vector<int>{6, 2, 6, 2, 6, 2});
  const ir::Node& first = *learned.find_node("seq_blocks_2");
  CHECK(first.formats.at("data_in").fields().at("frac_width").as_int() < 6);
  CHECK(first.formats.at("data_in").fields().at("width").as_int() == 4);
  CHECK(frac_widths(saved.back().graph) == frac_widths(learned));
}

TEST_CASE("the graph to use has its batch norms folded and computes what was validated") {
  ir::Graph graph = quantized("jsc-mlp", "integer(6, 3)", "integer(4, 2)");
  backend::TrainOptions options = short_run();
  options.fold_batch_norm = true;
  std::vector<Saved> saved;
  const backend::TrainResult result = run_training(graph, jets(), options, keep(saved), "");
  int best = 0;
  for (const Saved& snapshot : saved) {
    CHECK(snapshot.graph.find_node("module_list_1") != nullptr);  // resumed runs need it
    if (!snapshot.best) continue;
    ++best;
    CHECK(snapshot.deployed.find_node("module_list_1") == nullptr);
    CHECK_FALSE(snapshot.deployed.tensors.contains("module_list.1.running_mean"));
    if (snapshot.step == 33)
      CHECK(validation_loss(snapshot.deployed, jets()) ==
            Approx(result.best_validation.loss).epsilon(1e-9));
  }
  CHECK(best > 0);
  CHECK(graph.find_node("module_list_1") == nullptr);
  // In float the folded layers compute what layer and batch norm did.
  ir::Graph plain = build("jsc-mlp", 1);
  std::vector<Saved> of_plain;
  run_training(plain, jets(), options, keep(of_plain), "");
  const Saved& last = of_plain.back();
  CHECK(validation_loss(plain, jets()) ==
        Approx(validation_loss(last.graph, jets())).epsilon(1e-5));
}

TEST_CASE("options of quantized training that could have no effect are refused") {
  const auto refusal = [](const ir::Graph& graph, const backend::TrainOptions& options) {
    ir::Graph copy = graph;
    return message_of(Fault::config, [&] { run_training(copy, jets(), options, {}, ""); });
  };
  const ir::Graph graph = quantized("jsc-tiny", "integer(4, 2)", "integer(4, 2)");
  backend::TrainOptions options = short_run();
  options.quantize_after_steps = 33;
  CHECK_THAT(refusal(graph, options), Contains("33 steps"));
  options.quantize_after_steps = 5;
  CHECK_THAT(refusal(build("jsc-tiny"), options), Contains("no formats"));
  options.quantize_after_steps = 0;
  options.learn_scales = true;
  CHECK_THAT(refusal(build("jsc-tiny"), options), Contains("learn_scales"));
  options.learn_scales = false;
  options.fold_batch_norm = true;
  CHECK_THAT(refusal(build("toy"), options), Contains("fold_batch_norm"));
  ir::Graph norms = build("jsc-mlp", 1);
  add_formats(norms, "aten::batch_norm", {{"weight", "integer(8, 4)"}});
  CHECK_THAT(refusal(norms, options), Contains("module_list_1") && Contains("formats of its own"));
}
