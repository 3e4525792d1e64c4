// SPDX-License-Identifier: Apache-2.0
// The training loop.
#include "torch/train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "torch/run/device.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/loss_checks.hpp"
#include "torch/train/optimizer.hpp"
#include "torch/train/state.hpp"
#include "torch/train/step_gradients.hpp"
#include "torch/train/step_log.hpp"
#include "torch/train/validation.hpp"

namespace mase::train {
namespace {

/// The hash of what is trained on: the data set, and the teacher if there is one.
std::string data_hash(const data::Dataset& data, const backend::TrainOptions& options) {
  return options.teacher ? sha256(data.sha256 + weights_hash(*options.teacher)) : data.sha256;
}

class Trainer {
 public:
  Trainer(ir::Graph& graph, const data::Dataset& data, const backend::TrainOptions& options,
          const backend::TrainCallbacks& callbacks, c10::Device device)
      : graph_(graph),
        data_(data),
        options_(options),
        callbacks_(callbacks),
        counts_(count_steps(static_cast<std::int64_t>(data.train.size()), options,
                            has_batch_norm(graph))),
        model_(graph, options, counts_.steps, device),
        optimizer_(options, model_.parameters().values(), model_.parameters().decayed()),
        batches_(data, options.batch_size, static_cast<std::uint64_t>(options.seed), options,
                 options.ranks, options.shards),
        processes_(options.ranks, batches_.shards()),
        objective_(data, options, batches_, first_output(), device),
        gradients_({model_, objective_, batches_}, data, processes_, counts_, options, device) {
    state_.data_hash = data_hash(data, options);
  }

  /// Meets the other processes of the training, if there are any, and compares notes with them.
  void meet(const std::string& resume) {
    processes_.meet(graph_, state_.data_hash, sha256(resume), options_);
  }

  void resume(const std::string& bytes) {
    state_ = read_state(bytes, options_, state_.data_hash, data_, graph_);
    const std::vector<at::Tensor> own = moments();
    const bool fits = std::ranges::equal(
        state_.moments, own, {}, &std::vector<float>::size,
        [](const at::Tensor& moment) { return static_cast<std::size_t>(moment.numel()); });
    if (!fits) file_error("cannot resume: the training state belongs to another model");
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i].copy_(libtorch::tensor_of(state_.moments[i]));
    state_.moments.clear();
    model_.learned_steps().restore(state_.learned_steps);
    objective_.name_figures(state_.best);
  }

  backend::TrainResult run() {
    log_.begin();
    while (state_.step < counts_.steps && !stopped_early()) run_epoch();
    model_.swap_average();
    model_.store();
    model_.store_folded(graph_);
    processes_.wait_for_all();
    return {state_.step, state_.epoch, log_.last_loss(), state_.best, stopped_early()};
  }

 private:
  /// Runs one row in eval mode, so that a model that does not fit is refused before any change is
  /// made.
  c10::IValue first_output() {
    const data::Batch batch = data_.batch(data_.train, 0, 1);
    libtorch::check_inputs(graph_, batch.inputs);
    batches_.load(data_.train, 0, 1);
    return model_.executor().run(batches_.inputs());
  }

  bool stopped_early() const {
    return options_.early_stop && state_.waited >= *options_.early_stop;
  }

  void run_epoch() {
    const std::int64_t epoch = state_.step / counts_.steps_per_epoch;
    gradients_.shuffle(epoch);
    const std::int64_t end = std::min(counts_.steps, (epoch + 1) * counts_.steps_per_epoch);
    while (state_.step < end) {
      run_step();
      if (state_.step == end) break;
      after_step();
      if (processes_.are_asked_to_stop()) stop();
    }
    finish_epoch();
  }

  void run_step() {
    model_.begin_step(state_.step);
    const double loss = gradients_.compute(state_.step);
    growth_.see(loss, state_.step);
    Parameters& parameters = model_.parameters();
    if (options_.gradient_clip) clip_gradients(parameters.gradients(), *options_.gradient_clip);
    model_.learned_steps().scale_gradients();
    optimizer_.step(parameters.values(), parameters.gradients(),
                    learning_rate(state_.step, counts_, options_), state_.step);
    model_.finish_step(state_.step);
    ++state_.step;
    log_.add(loss);
  }

  /// What a resumed run needs of the optimiser, and the average.
  std::vector<at::Tensor> moments() {
    std::vector<at::Tensor> all = optimizer_.moments();
    if (!model_.average().empty()) all.push_back(model_.average().values());
    return all;
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
    processes_.take_statistics_of_first(model_.executor().tensors(), model_.parameters(),
                                        state_.step);
    // Epochs before quantization are not candidates, and early stopping does not count them.
    const bool counts = is_quantized(state_.step - 1, options_);
    model_.swap_average();
    const data::Figures validation =
        validate(data_, model_.executor(), counts, objective_, batches_, processes_, state_.step);
    model_.swap_average();
    const bool better = counts && (!state_.has_best || validation.loss < state_.best.loss);
    if (better) state_.best = validation;
    state_.has_best = state_.has_best || better;
    state_.waited = better || !counts ? 0 : state_.waited + 1;
    state_.epoch = state_.step / counts_.steps_per_epoch;
    report(validation);
    save(better);
  }

  void report(const std::optional<data::Figures>& validation) {
    const backend::Progress progress = log_.take(state_.step, counts_, options_, validation);
    if (callbacks_.progress) callbacks_.progress(progress);
  }

  void save(bool best) {
    if (!callbacks_.save && !processes_.are_several()) return;
    if (!model_.parameters().values().isfinite().all().item<bool>())
      refuse_loss(std::nan(""), state_.step, counts_);
    if (!callbacks_.save) return;
    model_.store();
    state_.weights_hash = weights_hash(graph_);
    for (const at::Tensor& moment : moments())
      state_.moments.push_back(libtorch::floats_of(moment));
    state_.learned_steps = model_.learned_steps().values();
    const ir::Graph deployed = best ? model_.deployed_graph() : ir::Graph();
    callbacks_.save({&graph_, best ? &deployed : nullptr, write_state(state_, options_),
                     state_.step, state_.epoch, best, true});
    state_.moments.clear();
  }

  ir::Graph& graph_;
  const data::Dataset& data_;
  const backend::TrainOptions& options_;
  const backend::TrainCallbacks& callbacks_;
  StepCounts counts_;
  TrainedModel model_;
  Optimizer optimizer_;
  Batches batches_;
  Processes processes_;
  Objective objective_;
  StepGradients gradients_;
  State state_;  ///< counters and best result; moments only while saving
  StepLog log_;
  GrowthWarning growth_;
};

}  // namespace

backend::TrainResult run_training(ir::Graph& graph, const data::Dataset& data,
                                  const backend::TrainOptions& options,
                                  const backend::TrainCallbacks& callbacks,
                                  const std::string& resume, c10::Device device) {
  check_data(graph, data);
  try {
    Trainer trainer(graph, data, options, callbacks, device);
    trainer.meet(resume);
    if (!resume.empty()) trainer.resume(resume);
    return trainer.run();
  } catch (const c10::NotImplementedError& error) {
    if (device.is_cpu()) throw;
    file_error("training: " +
               libtorch::device_error(error, device,
                                      "an operator of losses, backward passes or optimisers"));
  }
}

}  // namespace mase::train
