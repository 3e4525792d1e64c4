// SPDX-License-Identifier: Apache-2.0
// The training loop.
#include "torch/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "backend/targets.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "data/scorer.hpp"
#include "ir/op_table.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"
#include "torch/train/batches.hpp"
#include "torch/train/checks.hpp"
#include "torch/train/draws.hpp"
#include "torch/train/learned_steps.hpp"
#include "torch/train/network.hpp"
#include "torch/train/optimizer.hpp"
#include "torch/train/parameters.hpp"
#include "torch/train/processes.hpp"
#include "torch/train/rounded_weights.hpp"
#include "torch/train/schedule.hpp"
#include "torch/train/shard_scores.hpp"
#include "torch/train/shard_statistics.hpp"
#include "torch/train/state.hpp"
#include "torch/train/target_losses.hpp"

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

/// The hash of what is trained on: the data set, and the teacher if there is one.
std::string data_hash(const data::Dataset& data, const backend::TrainOptions& options) {
  return options.teacher ? sha256(data.sha256 + weights_hash(*options.teacher)) : data.sha256;
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
        batches_(data, options.batch_size, static_cast<std::uint64_t>(options.seed), options,
                 options.ranks, options.shards),
        processes_(options.ranks, batches_.shards()),
        statistics_(graph, executor_),
        draws_(draws_numbers(graph)) {
    if (options.teacher) teacher_.emplace(*options.teacher, ir::Level::floating);
    check_quantization(graph, options, counts_.steps, parameters_.steps().size(), folded_);
    if (!network_) network_ = make_autograd_network(executor_, parameters_);
    executor_.rounding().seed = static_cast<std::uint64_t>(options.seed);
    executor_.rounding().gradient = gradient_format(graph, options);
    if (options.round_weights) rounded_weights_.emplace(graph, executor_, parameters_);
    if (options.ema_decay)
      average_.assign(parameters_.values().begin(), parameters_.values().end());
    if (options.accumulate_grad_batches > 1) sums_.resize(parameters_.values().size());
    state_.data_hash = data_hash(data, options);
    check_first_batch();
  }

  /// Meets the other processes of the training, if there are any, and compares notes with them.
  void meet(const std::string& resume) {
    processes_.meet(graph_, state_.data_hash, sha256(resume), options_);
  }

  void resume(const std::string& bytes) {
    state_ = read_state(bytes, options_, state_.data_hash, data_, graph_);
    const bool fits = std::ranges::equal(state_.moments, moments(), {}, &std::vector<float>::size,
                                         &std::vector<float>::size);
    if (!fits) file_error("cannot resume: the training state belongs to another model");
    if (options_.ema_decay) {
      average_ = std::move(state_.moments.back());
      state_.moments.pop_back();
    }
    optimizer_.moments() = std::move(state_.moments);
    steps_.restore(state_.learned_steps);
    name_figures(state_.best);
  }

  backend::TrainResult run() {
    last_log_ = Clock::now();
    while (state_.step < counts_.steps && !stopped_early()) run_epoch();
    swap_average();
    executor_.store_tensors(graph_);
    if (folded_ > 0) executor_.store_folded(graph_);
    processes_.wait_for_all();
    return {state_.step, state_.epoch, last_loss_, state_.best, stopped_early()};
  }

 private:
  /// Runs one row in eval mode, so that a model that does not fit is refused before any change is
  /// made.
  void check_first_batch() {
    const data::Batch batch = data_.batch(data_.train, 0, 1);
    libtorch::check_inputs(graph_, batch.inputs);
    batches_.load(data_.train, 0, 1);
    const c10::IValue output = executor_.run(batches_.inputs());
    const std::vector<std::string> results = result_names(output);
    losses_.emplace(teacher_ ? backend::teacher_targets(results, options_)
                             : backend::training_targets(data_, options_),
                    results, options_.label_smoothing);
    if (teacher_ && data_.has_labels())
      labels_.emplace(backend::training_targets(data_, {}), results, 0);
    losses_->select(result_tensors(output), wanted());
    if (labels_) labels_->select(result_tensors(output), batches_.targets());
  }

  /// What the loaded batch asks of the model's outputs.
  std::vector<at::Tensor> wanted() {
    if (!teacher_) return batches_.targets();
    std::vector<at::Tensor> outputs = result_tensors(teacher_->run(batches_.inputs()));
    for (at::Tensor& output : outputs) output = output.contiguous();
    if (outputs.size() != losses_->targets().size())
      config_error("the teacher returns " + std::to_string(outputs.size()) +
                   " results, and the model " + std::to_string(losses_->targets().size()));
    return outputs;
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
      if (processes_.are_asked_to_stop()) stop();
    }
    finish_epoch();
  }

  void run_step() {
    const bool quantized = is_quantized(state_.step, options_);
    if (rounded_weights_ && state_.step == options_.quantize_after_steps)
      rounded_weights_->round(state_.step - 1);
    executor_.rounding().step = state_.step;
    network_->begin_step(quantized);
    const Shards& shards = batches_.shards();
    for (std::int64_t shard = shards.first; shard < shards.end; ++shard) run_shard(shard);
    last_loss_ = processes_.sum_shards(parameters_);
    if (!std::isfinite(last_loss_)) refuse_loss(last_loss_);
    warn_of_growth();
    const double rate = learning_rate(state_.step, counts_, options_);
    if (options_.gradient_clip) clip_gradients(*options_.gradient_clip);
    steps_.scale_gradients();
    optimizer_.step(parameters_.values().data(), parameters_.gradients().data(), rate, state_.step);
    steps_.follow();
    if (options_.ema_decay) update_average(*options_.ema_decay);
    executor_.rounding().batch -= shards.end - 1;  // all processes round weights alike
    if (rounded_weights_ && quantized) rounded_weights_->round(state_.step);
    ++state_.step;
    logged_loss_ += last_loss_;
    ++logged_steps_;
  }

  /// The gradients of a shard are the mean over the batches of this step.
  void run_shard(std::int64_t shard) {
    if (draws_) seed_step(options_.seed, state_.step, static_cast<int>(shard));
    const std::int64_t group = options_.accumulate_grad_batches;
    const std::int64_t first = state_.step % counts_.steps_per_epoch * group;
    const std::int64_t end = std::min(first + group, counts_.batches_per_epoch);
    double loss = 0;
    for (std::int64_t batch = first; batch < end; ++batch) {
      executor_.rounding().batch = (batch - first) * batches_.shards().all + shard;
      batches_.load({batch, shard},
                    batch + 1 < end ? Batches::Place{batch + 1, shard} : after(shard, first, end));
      loss += run_batch();
      if (group > 1) add_gradients(batch == first);
    }
    if (group > 1) average_gradients(end - first);
    processes_.add_shard(parameters_, loss / static_cast<double>(end - first));
    statistics_.keep_those_of_first(shard, batches_.shards());
  }

  /// The place after the last one of a shard in batches [first, end).
  Batches::Place after(std::int64_t shard, std::int64_t first, std::int64_t end) const {
    const Shards& shards = batches_.shards();
    return shard + 1 < shards.end ? Batches::Place{first, shard + 1}
                                  : Batches::Place{end, shards.first};
  }

  double run_batch() {
    const bool whole = batches_.shards().all == 1;
    const double loss = losses_->compute(network_->forward(batches_.inputs()), wanted(),
                                         whole ? std::vector<double>() : shares());
    if (whole && !std::isfinite(loss)) refuse_loss(loss);
    network_->backward(losses_->gradients());
    return loss;
  }

  /// The share of the loaded rows in the loss of their batch, for each target.
  std::vector<double> shares() const {
    if (batches_.share().rows == 0) return std::vector<double>(losses_->targets().size(), 0.0);
    return losses_->shares(batches_.rows_of_shard(), batches_.rows_of_batch());
  }

  /// Warns once of a loss that has become many times the first one of this run.
  void warn_of_growth() {
    constexpr double often = 100;
    if (!first_loss_) first_loss_ = last_loss_;
    if (!(last_loss_ > often * std::max(*first_loss_, 1e-6)) || std::exchange(warned_, true))
      return;
    log::warning(
        "the training loss grew from " + fixed_text(*first_loss_, 4) + " to " +
        fixed_text(last_loss_, 4) + " in step " + std::to_string(state_.step + 1) +
        "; a smaller learning_rate, a warm-up (warmup_share) or gradient_clip usually helps");
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

  /// The average follows faster in the first steps, so that it soon forgets the initial weights.
  void update_average(double decay) {
    const auto step = static_cast<double>(state_.step);
    const auto share = static_cast<float>(1 - std::min(decay, (1 + step) / (10 + step)));
    const auto values = parameters_.values();
    for (std::size_t i = 0; i < average_.size(); ++i)
      average_[i] += share * (values[i] - average_[i]);
  }

  /// Exchanges the parameters with their average; does nothing without ema_decay.
  void swap_average() {
    if (average_.empty()) return;
    std::ranges::swap_ranges(parameters_.values(), average_);
    steps_.follow();
  }

  /// What a resumed run needs of the optimiser, and the average.
  std::vector<std::vector<float>> moments() {
    std::vector<std::vector<float>> all = optimizer_.moments();
    if (options_.ema_decay) all.push_back(average_);
    return all;
  }

  /// Scales all gradients so that their norm is at most this (Pascanu et al., ICML 2013).
  void clip_gradients(double most) {
    double squares = 0;
    for (const float value : parameters_.gradients()) squares += double(value) * double(value);
    const double norm = std::sqrt(squares);
    if (!(norm > most)) return;
    const auto scale = static_cast<float>(most / norm);
    for (float& value : parameters_.gradients()) value *= scale;
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
    processes_.take_statistics_of_first(executor_.tensors(), parameters_, state_.step);
    swap_average();
    const data::Figures validation = validate();
    swap_average();
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

  data::Figures validate() {
    const bool quantized = is_quantized(state_.step - 1, options_);
    executor_.set_level(quantized ? ir::Level::quantized : ir::Level::floating);
    ShardScores scores(*losses_, processes_);
    std::optional<ShardScores> label_scores;
    if (labels_) label_scores.emplace(*labels_, processes_);
    const auto rows = static_cast<std::int64_t>(data_.validation.size());
    try {
      for (std::int64_t batch = 0, done = 0; done < rows; ++batch)
        done += validate(batch, scores, label_scores);
    } catch (const Error& error) {
      throw Error(error.fault(),
                  "validation after step " + std::to_string(state_.step) + ": " + error.what());
    }
    data::Figures figures = scores.figures();
    if (label_scores) add_label_figures(label_scores->figures(), figures);
    processes_.take_figures_of_first(figures);
    return figures;
  }

  /// Runs the own shards of a batch of validation rows. Returns the number of rows of all shards.
  std::int64_t validate(std::int64_t batch, ShardScores& scores,
                        std::optional<ShardScores>& label_scores) {
    std::int64_t rows = 0;
    const Shards& shards = batches_.shards();
    for (std::int64_t shard = shards.first; shard < shards.end; ++shard) {
      rows = batches_.load(data_.validation, {batch, shard}, after(shard, batch, batch + 1));
      const auto results = result_tensors(executor_.run(batches_.inputs()));
      scores.add(results, wanted(), batches_.share().rows);
      if (labels_) label_scores->add(results, batches_.targets(), batches_.share().rows);
    }
    scores.finish_batch(rows);
    if (labels_) label_scores->finish_batch(rows);
    return rows;
  }

  /// Adds the figures of the labels to those of the teacher. Their losses are not trained.
  static void add_label_figures(const data::Figures& labels, data::Figures& figures) {
    for (const data::Figure& figure : labels.all)
      if (figure.row->name != "loss") figures.all.push_back(figure);
  }

  /// Finds the rows of figures that were read from a state.
  void name_figures(data::Figures& figures) const {
    data::Figures known = data::Scorers(losses_->targets()).figures();
    if (labels_) add_label_figures(data::Scorers(labels_->targets()).figures(), known);
    for (data::Figure& figure : known.all)
      if (const data::Figure* stored = figures.find(figure.name)) figure.value = stored->value;
    figures.all = std::move(known.all);
  }

  void report(const std::optional<data::Figures>& validation) {
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
    if (!callbacks_.save && !processes_.are_several()) return;
    if (!std::ranges::all_of(parameters_.values(), [](float v) { return std::isfinite(v); }))
      refuse_loss(std::nan(""));
    if (!callbacks_.save) return;
    executor_.store_tensors(graph_);
    state_.weights_hash = weights_hash(graph_);
    state_.moments = moments();
    state_.learned_steps = steps_.values();
    const ir::Graph deployed = best ? deployed_graph() : ir::Graph();
    callbacks_.save({&graph_, best ? &deployed : nullptr, write_state(state_, options_),
                     state_.step, state_.epoch, best, true});
    state_.moments.clear();
  }

  /// The graph for use, with batch norms folded as in training, and with the average weights.
  ir::Graph deployed_graph() {
    ir::Graph deployed = graph_;
    swap_average();
    if (options_.ema_decay) executor_.store_tensors(deployed);
    if (folded_ > 0) executor_.store_folded(deployed);
    swap_average();
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
  Processes processes_;
  ShardStatistics statistics_;
  bool draws_;                  ///< the graph draws random numbers while training
  State state_;                 ///< counters and best result; moments only while saving
  std::vector<float> average_;  ///< of the parameters, if ema_decay is given
  std::vector<float> sums_;     ///< sums of gradients over the batches of a step
  std::optional<libtorch::Executor> teacher_;
  std::optional<TargetLosses> losses_;  ///< those that training minimises
  std::optional<TargetLosses> labels_;  ///< of labels that a teacher replaces, for their figures
  double last_loss_ = 0, logged_loss_ = 0;
  std::optional<double> first_loss_;  ///< of this run
  bool warned_ = false;
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
  trainer.meet(resume);
  if (!resume.empty()) trainer.resume(resume);
  return trainer.run();
}

}  // namespace mase::train
