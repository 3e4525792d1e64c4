// SPDX-License-Identifier: Apache-2.0
// The parts of training: optimisers and loss against stock PyTorch, schedules, parameters, state.
#include <ATen/ATen.h>

#include <cmath>

#include "base/file.hpp"
#include "data/loss.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/optimizer.hpp"
#include "torch/train/parameters.hpp"
#include "torch/train/schedule.hpp"
#include "torch/train/state.hpp"
#include "torch/train/stock_steps.hpp"
#include "torch/train/target_losses.hpp"
#include "torch/train/train_support.hpp"

using namespace mase;
using namespace mase::train;
using namespace train_support;
using Catch::Contains;

TEST_CASE("twenty optimiser steps equal stock PyTorch's") {
  for (const auto& [name, expected] : stock_steps::parameters) {
    INFO(name);
    const Array start = patterned({8}, 3);
    const at::Tensor values = libtorch::copy_of(start);
    const backend::TrainOptions options = stock_options(name);
    Optimizer optimizer(options, values, 8);
    for (int t = 0; t < 20; ++t) {
      std::vector<float> gradients;
      for (int i = 0; i < 8; ++i)
        gradients.push_back(static_cast<float>((i * 7 + t * 5) % 16 - 8) / 16.0f);
      optimizer.step(values, libtorch::tensor_of(gradients), options.learning_rate, t);
    }
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(libtorch::floats_of(values)[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-7));
  }
}

TEST_CASE("cross entropy and its gradient equal stock PyTorch's") {
  const std::vector<float> outputs{1, 2, -1, 0.5f, 0, 3};
  const std::vector<std::int64_t> labels{1, 0};
  std::vector<float> gradient(6);
  const auto check = [&](double smoothing, double loss, std::vector<double> expected) {
    CHECK(data::cross_entropy(outputs, labels, smoothing, gradient) == Approx(loss).epsilon(1e-6));
    for (std::size_t i = 0; i < 6; ++i) CHECK(gradient[i] == Approx(expected[i]).epsilon(1e-5));
  };
  check(0.0, 1.4864425659179688,
        {0.12974824011325836, -0.14730772376060486, 0.017559515312314034, -0.463739275932312,
         0.021993238478899002, 0.4417460560798645});
  check(0.1, 1.5197758674621582,
        {0.11308157444000244, -0.11397439241409302, 0.0008928477764129639, -0.43040594458580017,
         0.0053265709429979324, 0.4250793755054474});
  // Outputs that would overflow a plain exponential.
  CHECK(data::cross_entropy(std::vector<float>{1000, 0}, std::vector<std::int64_t>{0}, 0.0,
                            std::span(gradient).first(2)) == 0.0);
}

TEST_CASE("labels that could be for several results are refused") {
  const at::Tensor scores = at::ones({1, 3}), state = at::zeros({1, 4});
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.insert("output", scores);
  CHECK(result_tensors(dict).front().is_same(scores));
  const data::Target labels{"y", "classification", {}, {"a", "b", "c"}, "cross_entropy"};
  CHECK(TargetLosses({labels}, result_names(dict), 0).targets().size() == 1);
  dict.insert("state", state);
  CHECK_THAT(message_of(Fault::config, [&] { TargetLosses({labels}, result_names(dict), 0); }),
             Contains("returns 2 results (output, state)") && Contains("y_output.npy") &&
                 Contains("begin state inside forward"));
  data::Target named = labels;
  named.name = "y_output";
  dict.erase("state");
  CHECK_THAT(message_of(Fault::config,
                        [&] {
                          TargetLosses({named, named}, result_names(dict), 0);
                        }),
             Contains("for the same output"));
  CHECK(result_names(c10::ivalue::Tuple::create({scores, state})) ==
        std::vector<std::string>{"0", "1"});
  CHECK_THAT(message_of(Fault::config,
                        [&] {
                          result_names(c10::ivalue::Tuple::create({7, state}));
                        }),
             Contains("must return tensors"));
}

TEST_CASE("steps are counted from rows, batches and groups") {
  backend::TrainOptions options;
  options.batch_size = 10;
  options.max_epochs = 3;
  CHECK(count_steps(41, options, false).batches_per_epoch == 5);
  CHECK(count_steps(41, options, true).batches_per_epoch == 4);
  CHECK(count_steps(42, options, true).batches_per_epoch == 5);
  CHECK(count_steps(41, options, false).steps == 15);
  options.accumulate_grad_batches = 2;
  CHECK(count_steps(41, options, false).steps_per_epoch == 3);
  options.max_steps = 7;
  CHECK(count_steps(41, options, false).steps == 7);
  CHECK(count_steps(41, options, false).epochs == 3);
  options.max_steps = -1;
  CHECK(count_steps(41, options, false).steps == 9);
  CHECK_THAT(message_of(Fault::config, [&] { count_steps(1, options, true); }),
             Contains("too few"));
  options.ranks.size = 3;  // batches of 30 rows
  CHECK(count_steps(61, options, false).batches_per_epoch == 3);
  CHECK(count_steps(61, options, true).batches_per_epoch == 2);
  CHECK(count_steps(62, options, true).batches_per_epoch == 3);
  options.shards = 30;  // which are normalised together
  CHECK(count_steps(61, options, true).batches_per_epoch == 2);
  CHECK(count_steps(62, options, true).batches_per_epoch == 3);
  options.ranks.size = 1;
  options.batch_size = 1;
  CHECK_THAT(message_of(Fault::config, [&] { count_steps(9, options, true); }),
             Contains("batch_size"));
}

TEST_CASE("learning rates follow their schedule") {
  backend::TrainOptions options;
  options.learning_rate = 1.0;
  const StepCounts counts{10, 10, 100, 10};
  CHECK(learning_rate(0, counts, options) == 1.0);
  CHECK(learning_rate(99, counts, options) == 1.0);
  options.warmup_share = 0.2;
  CHECK(learning_rate(0, counts, options) == Approx(0.05));
  CHECK(learning_rate(19, counts, options) == 1.0);
  options.schedule = "cosine";
  options.eta_min = 0.2;
  CHECK(learning_rate(20, counts, options) == 1.0);
  CHECK(learning_rate(60, counts, options) == Approx(0.6));  // half of the way down
  CHECK(learning_rate(100, counts, options) == Approx(0.2));
  options.schedule = "step";
  options.warmup_share = 0.0;
  options.step_size = 4;
  options.gamma = 0.1;
  CHECK(learning_rate(39, counts, options) == 1.0);
  CHECK(learning_rate(40, counts, options) == Approx(0.1));
  CHECK(learning_rate(80, counts, options) == Approx(0.01));
}

TEST_CASE("parameters lie in one aligned buffer") {
  const ir::Graph graph = build("jsc-tiny");
  libtorch::Executor executor(graph, ir::Level::floating);
  executor.own_tensors();
  Parameters parameters(graph, executor.tensors());
  REQUIRE(parameters.entries().size() == 4);
  for (const Parameters::Entry& entry : parameters.entries()) {
    CHECK(entry.offset % 16 == 0);
    CHECK(executor.tensors().at(entry.path).data_ptr() ==
          parameters.values().data_ptr<float>() + entry.offset);
  }
  ir::Graph frozen = graph;
  for (auto& [path, tensor] : frozen.tensors) tensor.requires_grad = false;
  CHECK_THAT(message_of(Fault::config, [&] { Parameters(frozen, executor.tensors()); }),
             Contains("nothing to train"));
}

TEST_CASE("a training state reads back and its damage is noticed") {
  const ir::Graph graph = two_layers();
  const data::Dataset set = twelve_rows();
  backend::TrainOptions options;
  State state{7,
              2,
              1,
              true,
              {3, 0.1, {{"accuracy", 0.75}}},
              set.sha256,
              weights_hash(graph),
              {{1.5f, -2.0f}}};
  const std::string bytes = write_state(state, options);
  const State back = read_state(bytes, options, set.sha256, set, graph);
  CHECK(back.step == 7);
  CHECK(back.epoch == 2);
  CHECK(back.waited == 1);
  CHECK(back.best.loss == 0.1);
  CHECK(back.best.rows == 3);
  CHECK(back.best.find("accuracy")->value == 0.75);
  CHECK(back.moments == state.moments);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    CHECK_THAT(
        message_of(Fault::file, [&] { read_state(flipped, options, set.sha256, set, graph); }),
        Contains("damaged"));
    CHECK_THAT(message_of(Fault::file,
                          [&] { read_state(bytes.substr(0, i), options, set.sha256, set, graph); }),
               Contains("damaged"));
  }
}

namespace {

/// The state as a program without the option would have written it: magic, hash, length, header.
std::string without_option(const std::string& bytes, const std::string& option) {
  const std::size_t hash = bytes.find('\n') + 1, length = hash + 65;
  const std::size_t header = bytes.find('\n', length) + 1;
  const std::size_t size = std::stoul(bytes.substr(length));
  std::string text = bytes.substr(header, size);
  const std::size_t at = text.find(option);
  REQUIRE(at != std::string::npos);
  text.erase(at, option.size());
  const std::string rest = std::to_string(text.size()) + "\n" + text + bytes.substr(header + size);
  return bytes.substr(0, hash) + sha256(rest) + "\n" + rest;
}

}  // namespace

TEST_CASE("an option that is younger than a training state was its default") {
  const ir::Graph graph = two_layers();
  const data::Dataset set = twelve_rows();
  backend::TrainOptions options;
  const State state{7, 2, 1, false, {}, set.sha256, weights_hash(graph), {{1.0f}}};
  const std::string bytes = without_option(write_state(state, options), ",\"round_weights\":false");
  CHECK(read_state(bytes, options, set.sha256, set, graph).step == 7);
  options.round_weights = true;
  CHECK_THAT(message_of(Fault::config, [&] { read_state(bytes, options, set.sha256, set, graph); }),
             Contains("round_weights (was false, is true)"));
}

TEST_CASE("a training state is refused by another run") {
  const ir::Graph graph = two_layers();
  const data::Dataset set = twelve_rows();
  backend::TrainOptions options;
  const State state{7, 2, 1, false, {}, set.sha256, weights_hash(graph), {{1.0f}}};
  const std::string bytes = write_state(state, options);
  backend::TrainOptions other = options;
  other.learning_rate = 0.5;
  other.batch_size = 4;
  CHECK_THAT(message_of(Fault::config, [&] { read_state(bytes, other, set.sha256, set, graph); }),
             Contains("learning_rate (was 0.001, is 0.5)") && Contains("batch_size"));
  data::Dataset changed = set;
  changed.sha256 = "other";
  CHECK_THAT(
      message_of(Fault::file, [&] { read_state(bytes, options, changed.sha256, changed, graph); }),
      Contains("data set twelve changed"));
  ir::Graph weights = graph;
  weights.tensors.at("layers.0.bias").value.mutable_span<float>()[0] += 1;
  CHECK_THAT(message_of(Fault::file, [&] { read_state(bytes, options, set.sha256, set, weights); }),
             Contains("other weights"));
  backend::TrainOptions longer =
      options;  // a constant rate does not depend on the length of the run
  longer.max_epochs = 99;
  longer.log_every_n_steps = 1;
  CHECK(read_state(bytes, longer, set.sha256, set, graph).step == 7);
}
