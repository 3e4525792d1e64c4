// The training loop.
#include "train/trainer.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include "base/error.hpp"
#include "base/random.hpp"
#include "data/metrics.hpp"
#include "ir/op_table.hpp"
#include "torch_frontend/executor.hpp"
#include "train/batches.hpp"
#include "train/loss.hpp"
#include "train/network.hpp"
#include "train/optimizer.hpp"
#include "train/parameters.hpp"
#include "train/schedule.hpp"
#include "train/state.hpp"

namespace mase::train {
namespace {

using Clock = std::chrono::steady_clock;

bool has_op(const ir::Graph& graph, std::initializer_list<std::string_view> wanted) {
  return std::ranges::any_of(graph.order(), [&](ir::NodeId id) {
    return std::ranges::find(wanted, ir::base_op(graph.node(id).op)) != wanted.end();
  });
}

bool has_dropout(const ir::Graph& graph) {
  return has_op(graph, {"aten::dropout", "aten::feature_dropout", "aten::alpha_dropout",
                        "aten::feature_alpha_dropout", "aten::rrelu", "aten::native_dropout"});
}

/// The seed of a step's random draws: unrelated for neighbouring seeds and steps.
std::uint64_t step_seed(std::int64_t seed, std::int64_t step) {
  const auto low = [](std::int64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::int64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const auto words = philox({low(step), high(step), 0, 0}, {low(seed), high(seed)});
  return words[0] | static_cast<std::uint64_t>(words[1]) << 32;
}

void seed_torch(std::uint64_t seed) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

void check_data(const ir::Graph& graph, const data::Dataset& data) {
  if (data.validation.empty())
    config_error("data set " + data.name +
                 " has no validation rows, by which the best checkpoint is chosen; use a"
                 " validation_share above 0");
  if (const std::size_t inputs = graph.placeholders().size(); inputs != 1)
    config_error("a model to train must have one input; this one has " + std::to_string(inputs));
}

void check_output(const at::Tensor& output, std::int64_t rows, std::int64_t classes) {
  const bool fits = output.dim() == 2 && output.size(0) == rows && output.size(1) >= classes &&
                    output.scalar_type() == at::kFloat;
  if (fits) return;
  config_error("a model to train must return float32 [rows, classes]; for " + std::to_string(rows) +
               " rows and " + std::to_string(classes) + " classes this one returns " +
               c10::toString(output.scalar_type()) + " " + shape_text(output.sizes().vec()));
}

torch_frontend::Executor make_executor(const ir::Graph& graph) {
  torch_frontend::Executor executor(graph, ir::Level::quantized);
  executor.own_tensors();
  return executor;
}

class Trainer {
 public:
  Trainer(ir::Graph& graph, const data::Dataset& data, const TrainOptions& options,
          const TrainCallbacks& callbacks)
      : graph_(graph),
        data_(data),
        options_(options),
        callbacks_(callbacks),
        counts_(count_steps(static_cast<std::int64_t>(data.train.size()), options,
                            has_op(graph, {"aten::batch_norm"}))),
        executor_(make_executor(graph)),
        parameters_(graph, executor_.tensors()),
        network_(make_chain_network(executor_, parameters_)),
        optimizer_(options, parameters_.values().size()),
        batches_(data, options.batch_size, static_cast<std::uint64_t>(options.seed)),
        draws_(has_dropout(graph)) {
    if (!network_) network_ = make_autograd_network(executor_, parameters_);
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
  }

  TrainResult run() {
    last_log_ = Clock::now();
    while (state_.step < counts_.steps && !stopped_early()) run_epoch();
    executor_.store_tensors(graph_);
    return {state_.step, state_.epoch, last_loss_, state_.best, stopped_early()};
  }

 private:
  /// Runs one batch in eval mode, so that a model that does not fit is refused before anything
  /// changes.
  void check_first_batch() {
    const data::Batch batch = data_.batch(data_.train, 0, 1);
    const c10::IValue output = executor_.run(torch_frontend::check_inputs(graph_, {batch.inputs}));
    if (!output.isTensor())
      config_error("a model to train must return one tensor of class scores; this one returns a " +
                   output.tagKind());
    check_output(output.toTensor(), 1, data_.classes());
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
      if (state_.step < end) after_step();
    }
    finish_epoch();
  }

  void run_step() {
    if (draws_) seed_torch(step_seed(options_.seed, state_.step));
    const std::int64_t group = options_.accumulate_grad_batches;
    const std::int64_t first = state_.step % counts_.steps_per_epoch * group;
    const std::int64_t end = std::min(first + group, counts_.batches_per_epoch);
    double loss = 0;
    for (std::int64_t batch = first; batch < end; ++batch) {
      loss += run_batch(batch);
      if (group > 1) add_gradients(batch == first);
    }
    if (group > 1) average_gradients(end - first);
    last_loss_ = loss / static_cast<double>(end - first);
    const double rate = learning_rate(state_.step, counts_, options_);
    optimizer_.step(parameters_.values().data(), parameters_.gradients().data(), rate, state_.step);
    ++state_.step;
    logged_loss_ += last_loss_;
    ++logged_steps_;
  }

  double run_batch(std::int64_t index) {
    const std::int64_t rows = batches_.load(index);
    const at::Tensor output = network_->forward(batches_.inputs());
    check_output(output, rows, data_.classes());
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

  void finish_epoch() {
    const Metrics validation = validate();
    const bool better = !state_.has_best || validation.loss < state_.best.loss;
    if (better) state_.best = validation;
    state_.has_best = true;
    state_.waited = better ? 0 : state_.waited + 1;
    state_.epoch = state_.step / counts_.steps_per_epoch;
    report(validation);
    save(better);
  }

  Metrics validate() {
    executor_.forget_quantized();
    data::ScoreCounter counter(data_.classes());
    const auto rows = static_cast<std::int64_t>(data_.validation.size());
    try {
      for (std::int64_t first = 0; first < rows;) {
        first += batches_.load(data_.validation, first);
        const at::Tensor output = executor_.run({batches_.inputs()}).toTensor().contiguous();
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

  void report(const std::optional<Metrics>& validation) {
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
    callbacks_.save(
        {&graph_, write_state(state_, options_), state_.step, state_.epoch, best, true});
    state_.moments.clear();
  }

  ir::Graph& graph_;
  const data::Dataset& data_;
  const TrainOptions& options_;
  const TrainCallbacks& callbacks_;
  StepCounts counts_;
  torch_frontend::Executor executor_;
  Parameters parameters_;
  std::unique_ptr<Network> network_;
  Optimizer optimizer_;
  Batches batches_;
  bool draws_;               ///< the graph draws random numbers while training
  State state_;              ///< counters and best result; moments only while saving
  std::vector<float> sums_;  ///< gradients of the batches of a step
  at::Tensor output_gradient_;
  double last_loss_ = 0, logged_loss_ = 0;
  std::int64_t logged_steps_ = 0;
  Clock::time_point last_log_;
};

}  // namespace

TrainResult run_training(ir::Graph& graph, const data::Dataset& data, const TrainOptions& options,
                         const TrainCallbacks& callbacks, const std::string& resume) {
  check_data(graph, data);
  Trainer trainer(graph, data, options, callbacks);
  if (!resume.empty()) trainer.resume(resume);
  return trainer.run();
}

}  // namespace mase::train
