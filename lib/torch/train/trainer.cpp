// SPDX-License-Identifier: Apache-2.0
// The training loop.
#include "torch/train/trainer.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "data/metrics.hpp"
#include "ir/op_table.hpp"
#include "torch/run/executor.hpp"
#include "torch/train/batches.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/draws.hpp"
#include "torch/train/learned_steps.hpp"
#include "torch/train/loss.hpp"
#include "torch/train/network.hpp"
#include "torch/train/optimizer.hpp"
#include "torch/train/parameters.hpp"
#include "torch/train/rounded_weights.hpp"
#include "torch/train/schedule.hpp"
#include "torch/train/state.hpp"

namespace mase::train {
namespace {

using Clock = std::chrono::steady_clock;

bool has_batch_norm(const ir::Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](ir::NodeId id) {
    return ir::base_op(graph.node(id).op) == "aten::batch_norm";
  });
}

libtorch::Executor make_executor(const ir::Graph& graph) {
  libtorch::Executor executor(graph, ir::Level::quantized);
  executor.own_tensors();
  return executor;
}

class Trainer {
 public:
  Trainer(ir::Graph& graph, const data::Dataset& data, const backend::TrainOptions& options,
          const backend::TrainCallbacks& callbacks)
      : graph_(graph),
        data_(data),
        options_(options),
        callbacks_(callbacks),
        counts_(count_steps(static_cast<std::int64_t>(data.train.size()), options,
                            has_batch_norm(graph))),
        executor_(make_executor(graph)),
        folded_(options.fold_batch_norm ? executor_.fold_batch_norms() : 0),
        parameters_(graph, executor_.tensors(),
                    options.learn_scales ? learnable_ports(graph) : std::vector<PortName>()),
        steps_(graph, executor_, parameters_),
        network_(folded_ > 0 ? nullptr : make_layer_network(executor_, parameters_)),
        optimizer_(options, parameters_.values().size(), parameters_.decayed()),
        batches_(data, options.batch_size, static_cast<std::uint64_t>(options.seed), options),
        draws_(draws_numbers(graph)) {
    check_quantization(graph, options, counts_.steps, parameters_.steps().size(), folded_);
    if (!network_) network_ = make_autograd_network(executor_, parameters_);
    executor_.rounding().seed = static_cast<std::uint64_t>(options.seed);
    executor_.rounding().gradient = gradient_format(graph, options);
    if (options.round_weights) rounded_weights_.emplace(graph, executor_, parameters_);
    if (options.accumulate_grad_batches > 1) sums_.resize(parameters_.values().size());
    state_.data_hash = data.sha256;
    check_first_batch();
  }

  void resume(const std::string& bytes) {
    state_ = read_state(bytes, options_, data_, graph_);
    const bool fits = std::ranges::equal(state_.moments, optimizer_.moments(), {},
                                         &std::vector<float>::size, &std::vector<float>::size);
    if (!fits) file_error("cannot resume: the training state belongs to another model");
    optimizer_.moments() = std::move(state_.moments);
    steps_.restore(state_.learned_steps);
  }

  backend::TrainResult run() {
    last_log_ = Clock::now();
    while (state_.step < counts_.steps && !stopped_early()) run_epoch();
    executor_.store_tensors(graph_);
    if (folded_ > 0) executor_.store_folded(graph_);
    return {state_.step, state_.epoch, last_loss_, state_.best, stopped_early()};
  }

 private:
  /// Runs one batch in eval mode, so that a model that does not fit is refused before any change is
  /// made.
  void check_first_batch() {
    const data::Batch batch = data_.batch(data_.train, 0, 1);
    const c10::IValue output = executor_.run(libtorch::check_inputs(graph_, batch.inputs));
    check_output(class_scores(output), 1, data_);
  }

  bool stopped_early() const {
    return options_.early_stop && state_.waited >= *options_.early_stop;
  }

  void run_epoch() {
    const std::int64_t epoch = state_.step / counts_.steps_per_epoch;
    batches_.shuffle(epoch);
    const std::int64_t end = std::min(counts_.steps, (epoch + 1) * counts_.steps_per_epoch);
    while (state_.step < end) {
      run_step();
      if (state_.step == end) break;
      after_step();
      if (stop_asked()) stop();
    }
    finish_epoch();
  }

  void run_step() {
    if (draws_) seed_step(options_.seed, state_.step);
    const std::int64_t group = options_.accumulate_grad_batches;
    const std::int64_t first = state_.step % counts_.steps_per_epoch * group;
    const std::int64_t end = std::min(first + group, counts_.batches_per_epoch);
    const bool quantized = is_quantized(state_.step, options_);
    if (rounded_weights_ && state_.step == options_.quantize_after_steps)
      rounded_weights_->round(state_.step - 1);
    executor_.rounding().step = state_.step;
    network_->begin_step(quantized);
    double loss = 0;
    for (std::int64_t batch = first; batch < end; ++batch) {
      executor_.rounding().batch = batch - first;
      loss += run_batch(batch);
      if (group > 1) add_gradients(batch == first);
    }
    if (group > 1) average_gradients(end - first);
    last_loss_ = loss / static_cast<double>(end - first);
    const double rate = learning_rate(state_.step, counts_, options_);
    steps_.scale_gradients();
    optimizer_.step(parameters_.values().data(), parameters_.gradients().data(), rate, state_.step);
    steps_.follow();
    if (rounded_weights_ && quantized) rounded_weights_->round(state_.step);
    ++state_.step;
    logged_loss_ += last_loss_;
    ++logged_steps_;
  }

  double run_batch(std::int64_t index) {
    const std::int64_t rows = batches_.load(index);
    const at::Tensor output = network_->forward(batches_.inputs());
    check_output(output, rows, data_);
    if (!output_gradient_.defined() || output_gradient_.sizes() != output.sizes())
      output_gradient_ = at::empty(output.sizes(), at::kFloat);
    const at::Tensor values = output.is_contiguous() ? output : output.contiguous();
    const auto size = static_cast<std::size_t>(output.numel());
    const double loss =
        cross_entropy({values.data_ptr<float>(), size}, batches_.labels(), options_.label_smoothing,
                      {output_gradient_.data_ptr<float>(), size});
    if (!std::isfinite(loss)) refuse_loss(loss);
    network_->backward(output_gradient_);
    return loss;
  }

  [[noreturn]] void refuse_loss(double loss) const {
    throw Error(Fault::goal,
                "the training loss became " + std::string(std::isnan(loss) ? "NaN" : "infinite") +
                    " in epoch " + std::to_string(state_.step / counts_.steps_per_epoch + 1) +
                    ", step " + std::to_string(state_.step + 1) +
                    "; checkpoints saved before are intact. A smaller learning_rate or a warm-up"
                    " usually helps");
  }

  void add_gradients(bool first) {
    const auto gradients = parameters_.gradients();
    if (first)
      std::ranges::copy(gradients, sums_.begin());
    else
      for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += gradients[i];
  }

  void average_gradients(std::int64_t count) {
    const float scale = 1.0f / static_cast<float>(count);
    const auto gradients = parameters_.gradients();
    for (std::size_t i = 0; i < sums_.size(); ++i) gradients[i] = sums_[i] * scale;
  }

  void after_step() {
    if (state_.step % options_.log_every_n_steps == 0) report({});
    const auto every = options_.checkpoint_every_n_steps;
    if (every && state_.step % *every == 0) save(false);
  }

  /// Stops after Ctrl-C, and first stores what a resumed run needs.
  [[noreturn]] void stop() {
    save(false);
    throw Error(Fault::interrupted, "stopped after step " + std::to_string(state_.step) + " of " +
                                        std::to_string(counts_.steps) +
                                        "; the same command with --resume goes on from there");
  }

  void finish_epoch() {
    const backend::Metrics validation = validate();
    // Epochs before quantization are not candidates, and early stopping does not count them.
    const bool counts = is_quantized(state_.step - 1, options_);
    const bool better = counts && (!state_.has_best || validation.loss < state_.best.loss);
    if (better) state_.best = validation;
    state_.has_best = state_.has_best || better;
    state_.waited = better || !counts ? 0 : state_.waited + 1;
    state_.epoch = state_.step / counts_.steps_per_epoch;
    report(validation);
    save(better);
  }

  backend::Metrics validate() {
    const bool quantized = is_quantized(state_.step - 1, options_);
    executor_.set_level(quantized ? ir::Level::quantized : ir::Level::floating);
    data::ScoreCounter counter(data_.labels().classes());
    const auto rows = static_cast<std::int64_t>(data_.validation.size());
    try {
      for (std::int64_t first = 0; first < rows;) {
        first += batches_.load(data_.validation, first);
        const at::Tensor output = class_scores(executor_.run(batches_.inputs())).contiguous();
        counter.add({output.data_ptr<float>(), static_cast<std::size_t>(output.numel())},
                    batches_.labels());
      }
    } catch (const Error& error) {
      throw Error(error.fault(),
                  "validation after step " + std::to_string(state_.step) + ": " + error.what());
    }
    const data::Scores scores = counter.scores();
    return {scores.loss, scores.accuracy, scores.rows};
  }

  void report(const std::optional<backend::Metrics>& validation) {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_log_).count();
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, logged_steps_));
    if (callbacks_.progress)
      callbacks_.progress({state_.step, counts_.steps, state_.step / counts_.steps_per_epoch,
                           counts_.epochs, logged_steps_ > 0 ? logged_loss_ / steps : last_loss_,
                           learning_rate(state_.step - 1, counts_, options_),
                           seconds > 0 ? steps / seconds : 0.0, validation});
    last_log_ = now;
    logged_loss_ = 0;
    logged_steps_ = 0;
  }

  void save(bool best) {
    if (!callbacks_.save) return;
    if (!std::ranges::all_of(parameters_.values(), [](float v) { return std::isfinite(v); }))
      refuse_loss(std::nan(""));
    executor_.store_tensors(graph_);
    state_.weights_hash = weights_hash(graph_);
    state_.moments = optimizer_.moments();
    state_.learned_steps = steps_.values();
    const ir::Graph deployed = best ? deployed_graph() : ir::Graph();
    callbacks_.save({&graph_, best ? &deployed : nullptr, write_state(state_, options_),
                     state_.step, state_.epoch, best, true});
    state_.moments.clear();
  }

  /// The graph for use, with batch norms folded as in training.
  ir::Graph deployed_graph() const {
    ir::Graph deployed = graph_;
    if (folded_ > 0) executor_.store_folded(deployed);
    return deployed;
  }

  ir::Graph& graph_;
  const data::Dataset& data_;
  const backend::TrainOptions& options_;
  const backend::TrainCallbacks& callbacks_;
  StepCounts counts_;
  libtorch::Executor executor_;
  int folded_;  ///< number of folded batch norms
  Parameters parameters_;
  LearnedSteps steps_;
  std::optional<RoundedWeights> rounded_weights_;  ///< for training without master weights
  std::unique_ptr<TrainableNetwork> network_;
  Optimizer optimizer_;
  Batches batches_;
  bool draws_;               ///< the graph draws random numbers while training
  State state_;              ///< counters and best result; moments only while saving
  std::vector<float> sums_;  ///< sums of gradients over the batches of a step
  at::Tensor output_gradient_;
  double last_loss_ = 0, logged_loss_ = 0;
  std::int64_t logged_steps_ = 0;
  Clock::time_point last_log_;
};

}  // namespace

backend::TrainResult run_training(ir::Graph& graph, const data::Dataset& data,
                                  const backend::TrainOptions& options,
                                  const backend::TrainCallbacks& callbacks,
                                  const std::string& resume) {
  check_data(graph, data);
  Trainer trainer(graph, data, options, callbacks);
  if (!resume.empty()) trainer.resume(resume);
  return trainer.run();
}

}  // namespace mase::train
