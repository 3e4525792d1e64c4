// SPDX-License-Identifier: Apache-2.0
// Whole training runs: against stock PyTorch, resumed, quantized, and refused.
#include <algorithm>
#include <cmath>

#include "base/file.hpp"
#include "formats/format.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/train/network.hpp"
#include "torch/train/stock_steps.hpp"
#include "torch/train/train_support.hpp"
#include "torch/train/trainer.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;
using Catch::Contains;

TEST_CASE("twenty training steps equal stock PyTorch's") {
  for (const auto& [name, expected] : stock_steps::networks) {
    INFO(name);
    ir::Graph graph = two_layers();
    const backend::TrainResult result =
        run_training(graph, twelve_rows(), stock_options(name), {}, "");
    CHECK(result.steps == 20);
    std::size_t i = 0;
    for (const std::string& path : graph.tensor_order)
      for (float value : graph.tensors.at(path).value.span<float>()) {
        INFO(path << " element " << i);
        CHECK(value == Approx(expected[i++]).margin(3e-6));
      }
  }
}

TEST_CASE("a label at every position trains as rows of one label do") {
  data::Dataset set = twelve_rows();
  set.inputs.front().values = set.inputs.front().values.reshaped({4, 3, 4});
  set.targets.front().values = set.labels().values.reshaped({4, 3});
  set.train = {0, 1, 2, 3};
  set.validation = {1};
  for (const auto& [name, expected] : stock_steps::networks) {
    INFO(name);
    ir::Graph graph = two_layers({3, 4});
    const backend::TrainResult result = run_training(graph, set, stock_options(name), {}, "");
    CHECK(result.best_validation.rows == 1);
    std::size_t i = 0;
    for (const std::string& path : graph.tensor_order)
      for (float value : graph.tensors.at(path).value.span<float>())
        CHECK(value == Approx(expected[i++]).margin(3e-6));
  }
}

TEST_CASE("a resumed run ends with the same bits, from every snapshot") {
  const data::Dataset set = data::load_dataset("jsc", {});
  backend::TrainOptions options = short_run();
  options.schedule = "cosine";
  options.warmup_share = 0.1;
  check_resume(build("jsc-s", 1), set, options);
  options.accumulate_grad_batches = 2;
  options.checkpoint_every_n_steps = 4;
  options.optimizer = "sgd";
  check_resume(build("jsc-mlp", 1), set, options);
}

TEST_CASE("dropout draws the same after a resume") {
  const data::Dataset set = data::load_dataset("jsc", {});
  ir::Graph graph = build("jsc-mlp", 1);
  add_dropout(graph, "module_list_2", 0.3);
  check_resume(graph, set, short_run());
}

TEST_CASE("quantized graphs train with straight-through gradients and resume") {
  const data::Dataset set = data::load_dataset("jsc", {});
  ir::Graph graph = build("jsc-mlp", 1);
  for (const char* name : {"module_list_0", "module_list_3", "module_list_6"}) {
    auto& formats = graph.node(graph.find_node(name)->id).formats;
    formats.emplace("data_in", formats::parse_format("integer(8, 4)"));
    formats.emplace("weight", formats::parse_format("integer(4, 3)"));
  }
  backend::TrainOptions options = short_run();
  check_resume(graph, set, options);
  options.max_epochs = 15;
  const backend::TrainResult result = run_training(graph, set, options, {}, "");
  CHECK(result.best_validation.find("accuracy")->value > 0.6);
}

TEST_CASE("a jet classifier learns the shipped rows") {
  const data::Dataset set = data::load_dataset("jsc", {});
  ir::Graph graph = build("jsc-mlp");
  backend::TrainOptions options = short_run();
  options.max_epochs = 25;
  options.optimizer = "adamw";
  options.weight_decay = 0.1;
  options.schedule = "cosine";
  std::vector<Saved> saved;
  std::vector<backend::Progress> seen;
  backend::TrainCallbacks callbacks = keep(saved);
  callbacks.progress = [&](const backend::Progress& progress) { seen.push_back(progress); };
  const backend::TrainResult result = run_training(graph, set, options, callbacks, "");
  CHECK(result.steps == 25 * 11);
  CHECK(result.epochs == 25);
  CHECK(result.best_validation.find("accuracy")->value > 0.65);
  CHECK(result.best_validation.rows == 150);
  // One report per epoch, each with a validation; the newest snapshot holds the final weights.
  CHECK(seen.size() == 25 + 275 / 50);
  CHECK(seen.back().step == 275);
  CHECK(seen.back().validation.has_value());
  const auto first_epoch = std::ranges::find(saved, 1, &Saved::epoch);
  REQUIRE(first_epoch != saved.end());
  CHECK(first_epoch->step == 11);
  CHECK(first_epoch->best);
  check_same_bits(saved.back().graph, graph);
  CHECK(graph.tensors.at("module_list.1.num_batches_tracked").value.span<std::int64_t>()[0] ==
        25 * 11);
}

TEST_CASE("a few steps of the encoders lower the loss") {
  for (const char* name : {"transformer-jets", "bert-tiny"}) {
    INFO(name);
    const data::Dataset set = data::load_dataset(models::find_model(name)->dataset, {});
    ir::Graph graph = build(name);
    backend::TrainOptions options = short_run();
    options.learning_rate = 1e-3;
    options.max_steps = 30;
    options.log_every_n_steps = 10;
    std::vector<double> losses;
    backend::TrainCallbacks callbacks;
    callbacks.progress = [&](const backend::Progress& progress) {
      losses.push_back(progress.loss);
    };
    const backend::TrainResult result = run_training(graph, set, options, callbacks, "");
    CHECK(losses.back() < losses.front());
    CHECK(result.best_validation.loss < std::log(static_cast<double>(set.labels().classes())));
  }
}

TEST_CASE("a decoder learns which byte follows") {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 120; ++i) text += "so it goes, and ";
  write_file(folder.file("a.txt"), text);
  data::DataOptions source;
  source.data_dir = folder.path();
  source.max_token_len = 8;
  const data::Dataset set = data::load_dataset("text", source);
  ir::Graph graph = models::find_model("llama-tiny")->build({8}, 256, 0);
  backend::TrainOptions options = short_run();
  options.max_epochs = 6;
  options.batch_size = 16;
  options.learning_rate = 3e-3;
  std::vector<double> losses;
  backend::TrainCallbacks callbacks;
  callbacks.progress = [&](const backend::Progress& progress) { losses.push_back(progress.loss); };
  const backend::TrainResult result = run_training(graph, set, options, callbacks, "");
  // Untrained, a byte is one of 256; of the text's eleven a few characters tell the next.
  CHECK(losses.front() > 2);
  CHECK(result.best_validation.loss < 0.5);
  CHECK(result.best_validation.rows == static_cast<std::int64_t>(set.validation.size()));
}

TEST_CASE("accumulated batches make the step of one large batch") {
  ir::Graph large = two_layers(), small = two_layers();
  backend::TrainOptions options = stock_options("sgd");
  run_training(large, twelve_rows(), options, {}, "");
  options.batch_size = 4;
  options.accumulate_grad_batches = 3;
  run_training(small, twelve_rows(), options, {}, "");
  for (const auto& [path, tensor] : large.tensors)
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.value.size()); ++i)
      CHECK(small.tensors.at(path).value.span<float>()[i] ==
            Approx(tensor.value.span<float>()[i]).margin(1e-6));
}

TEST_CASE("a single last row is left out with batch norms") {
  data::Dataset set = twelve_rows();
  models::Builder builder("one", "One", {4}, 0);
  builder.linear("linear", 3);
  builder.batch_norm("norm");
  ir::Graph graph = builder.finish();
  backend::TrainOptions options;
  options.batch_size = 11;
  options.max_epochs = 2;
  CHECK(run_training(graph, set, options, {}, "").steps == 2);
  CHECK(graph.tensors.at("norm.num_batches_tracked").value.span<std::int64_t>()[0] == 2);
}

TEST_CASE("training stops early when validation gets no better") {
  ir::Graph graph = two_layers();
  backend::TrainOptions options = stock_options("sgd");
  options.max_steps.reset();
  options.learning_rate = 0.0;
  options.weight_decay = 0.0;
  options.early_stop = 3;
  const backend::TrainResult result = run_training(graph, twelve_rows(), options, {}, "");
  CHECK(result.stopped_early);
  CHECK(result.epochs == 4);
  check_same_bits(graph, two_layers());
}

TEST_CASE("a loss that is no number names epoch and step and keeps what was saved") {
  const data::Dataset set = twelve_rows();
  backend::TrainOptions options = stock_options("sgd");
  options.learning_rate = 1000;
  options.batch_size = 4;
  options.max_steps = 300;
  options.checkpoint_every_n_steps = 1;
  ir::Graph graph = two_layers();
  std::vector<Saved> saved;
  const std::string message =
      message_of(Fault::goal, [&] { run_training(graph, set, options, keep(saved), ""); });
  CHECK_THAT(message, Contains("loss became") && Contains("epoch") && Contains("step"));
  for (const Saved& snapshot : saved)
    for (const auto& [path, tensor] : snapshot.graph.tensors)
      for (float value : tensor.value.span<float>()) CHECK(std::isfinite(value));
}

TEST_CASE("imported scripted models train, chains of layers without autograd") {
  const data::Dataset jets = data::load_dataset("jsc", {});
  const auto import = [](const std::string& name, const Array& inputs) {
    backend::ImportOptions options;
    options.inputs = {inputs};
    return libtorch::import_torchscript(
        MASE_TEST_FOLDER "/fixtures/models/" + name + "/" + name + ".script.pt", options);
  };
  const auto is_chain = [](const ir::Graph& graph) {
    libtorch::Executor executor(graph, ir::Level::quantized);
    executor.own_tensors();
    Parameters parameters(graph, executor.tensors());
    return make_layer_network(executor, parameters) != nullptr;
  };
  const Array rows = jets.batch(jets.train, 0, 4).inputs.front();
  CHECK(is_chain(import("jsc_s", rows)));
  CHECK(is_chain(import("lenet", Array(DType::float32, {4, 1, 28, 28}))));
  ir::Graph graph = import("dropout_mlp", rows);
  backend::TrainOptions options = short_run();
  options.max_epochs = 30;
  std::vector<double> losses;
  const backend::TrainCallbacks callbacks{
      [&](const backend::Progress& p) { losses.push_back(p.loss); }, {}};
  run_training(graph, jets, options, callbacks, "");
  CHECK(losses.back() < 0.8 * losses.front());
  check_resume(import("dropout_mlp", rows), jets, short_run());
}

TEST_CASE("models and data that do not fit are refused") {
  const auto refusal = [](ir::Graph graph, const data::Dataset& set) {
    return message_of(Fault::config, [&] { run_training(graph, set, {}, {}, ""); });
  };
  data::Dataset set = twelve_rows();
  set.targets.front().class_names.push_back("d");
  CHECK_THAT(refusal(two_layers(), set), Contains("4 classes") && Contains("[1, 3]"));
  data::Dataset unvalidated = twelve_rows();
  unvalidated.validation.clear();
  CHECK_THAT(refusal(two_layers(), unvalidated), Contains("validation_share"));
  ir::Graph pair = two_layers();
  ir::Value& value = pair.node(pair.output()).args.front().value;
  value = ir::Value::tuple({value, value});
  CHECK_THAT(refusal(pair, twelve_rows()),
             Contains("could be for each of them") && Contains("y_0.npy"));
  ir::Graph images = build("lenet");
  CHECK_THAT(message_of(Fault::file, [&] { run_training(images, twelve_rows(), {}, {}, ""); }),
             Contains("x"));
}
