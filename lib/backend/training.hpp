// SPDX-License-Identifier: Apache-2.0
// The options, progress and result of training. Needs no LibTorch, so any file may include it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "backend/ranks.hpp"
#include "base/field.hpp"
#include "data/augment.hpp"
#include "data/dataset.hpp"
#include "data/scorer.hpp"
#include "ir/graph.hpp"

namespace mase::backend {

/// Weights of the classes in the cross entropy: a list, or "balanced".
struct ClassWeights {
  bool balanced = false;
  std::vector<double> weights;

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type() { return "list of number or \"balanced\""; }
};

/// The settings of a training run, under the names that the configuration file uses.
struct TrainOptions : data::AugmentOptions {
  std::string optimizer = "adam";
  double learning_rate = 1e-3;
  double weight_decay = 0.0;
  double momentum = 0.9;
  std::string schedule = "none";
  double warmup_share = 0.0;
  double eta_min = 1e-6;
  int step_size = 10;
  double gamma = 0.1;
  int batch_size = 128;
  bool group_by_length = false;
  int max_epochs = 20;
  std::optional<int> max_steps;
  int accumulate_grad_batches = 1;
  std::optional<int> shards;
  std::optional<int> early_stop;
  std::optional<data::LossName> loss;
  double label_smoothing = 0.0;
  ClassWeights class_weights;
  double huber_delta = 1.0;
  double distillation_temperature = 2.0;
  std::optional<double> gradient_clip;
  std::optional<double> ema_decay;
  int log_every_n_steps = 50;
  std::optional<int> checkpoint_every_n_steps;
  std::int64_t seed = 0;
  int quantize_after_steps = 0;
  bool learn_scales = false;
  bool fold_batch_norm = false;
  std::optional<std::string> gradient_format;
  bool round_weights = false;
  /// A model whose outputs are the targets instead of those of the data set.
  std::shared_ptr<const ir::Graph> teacher;
  Ranks ranks;  ///< the processes that train together
  static constexpr auto fields() {
    using O = TrainOptions;
    return std::tuple_cat(
        std::tuple{
            Field{"training_optimizer", &O::optimizer, "optimiser"}.one_of("adam", "adamw", "sgd"),
            Field{"learning_rate", &O::learning_rate, "peak learning rate"}.between(0.0, 1e3),
            Field{"weight_decay", &O::weight_decay,
                  "weight decay (decoupled for adamw, L2 for adam and sgd)"}
                .between(0.0, 1e3)
                .rare(),
            Field{"momentum", &O::momentum, "momentum of sgd (Nesterov)"}.between(0.0, 1.0).rare(),
            Field{"schedule", &O::schedule, "learning-rate schedule"}.one_of("none", "step",
                                                                             "cosine"),
            Field{"warmup_share", &O::warmup_share, "share of all steps with linear warm-up"}
                .between(0.0, 1.0)
                .rare(),
            Field{"eta_min", &O::eta_min, "floor of the cosine schedule"}.between(0.0, 1e3).rare(),
            Field{"step_size", &O::step_size, "epochs between two drops of the step schedule"}
                .at_least(1)
                .rare(),
            Field{"gamma", &O::gamma, "factor of a drop of the step schedule"}
                .between(0.0, 1.0)
                .rare(),
            Field{"batch_size", &O::batch_size, "rows per batch, of each process"}.at_least(1),
            Field{"group_by_length", &O::group_by_length,
                  "batches of texts of similar lengths, each only as wide as its longest text"}
                .rare(),
            Field{"max_epochs", &O::max_epochs, "epochs to train"}.at_least(1),
            Field{"max_steps", &O::max_steps,
                  "optimiser steps to train; if not given or -1, max_epochs decides"}
                .at_least(-1)
                .rare(),
            Field{"accumulate_grad_batches", &O::accumulate_grad_batches,
                  "batches whose gradients are averaged in one step"}
                .at_least(1)
                .rare(),
            Field{"shards", &O::shards,
                  "parts of a batch whose gradients are added in order, so that any number of "
                  "processes gives the same bits; if not given, one per process"}
                .between(1, 1024)
                .rare(),
            Field{"early_stop", &O::early_stop,
                  "stop after this many epochs without a better validation loss"}
                .at_least(1),
            Field{"loss", &O::loss,
                  "training loss (`mase list tasks`); if not given, that of the task"}
                .rare(),
            Field{"label_smoothing", &O::label_smoothing, "label smoothing of the cross entropy"}
                .between(0.0, 0.999)
                .rare(),
            Field{"class_weights", &O::class_weights,
                  "weight of each class in the cross entropy, or \"balanced\" against its rows"}
                .rare(),
            Field{"huber_delta", &O::huber_delta, "error from which the loss huber is linear"}
                .between(1e-12, 1e12)
                .rare(),
            Field{"distillation_temperature", &O::distillation_temperature,
                  "temperature of both softmaxes in the loss kl"}
                .between(1e-3, 1e3)
                .rare(),
            Field{"gradient_clip", &O::gradient_clip,
                  "largest norm of all gradients together; larger ones are scaled down"}
                .between(1e-12, 1e12)
                .rare(),
            Field{"ema_decay", &O::ema_decay,
                  "decay of an average of the weights, which is validated and stored as the best"}
                .between(0.0, 0.999999)
                .rare(),
            Field{"log_every_n_steps", &O::log_every_n_steps,
                  "steps between logged training values"}
                .at_least(1)
                .rare(),
            Field{"checkpoint_every_n_steps", &O::checkpoint_every_n_steps,
                  "steps between resumable checkpoints; if not given, one per epoch"}
                .at_least(1)
                .rare(),
            Field{"seed", &O::seed,
                  "seed for shuffling, dropout, stochastic rounding and placement"}
                .at_least(0),
            Field{"quantize_after_steps", &O::quantize_after_steps,
                  "optimiser steps in float before the model's formats are applied"}
                .at_least(0)
                .rare(),
            Field{"learn_scales", &O::learn_scales,
                  "learn the frac_width of integer, integer_floor and fixed formats (LSQ)"}
                .rare(),
            Field{"fold_batch_norm", &O::fold_batch_norm,
                  "train linear and convolution layers with the following batch norms folded in"}
                .rare(),
            Field{"gradient_format", &O::gradient_format,
                  "format of gradients at quantized ports, e.g. mxfp8_e5m2(rounding=stochastic)"}
                .rare(),
            Field{"round_weights", &O::round_weights,
                  "round weights to their formats after each step, keeping no float master copy"}
                .rare()},
        AugmentOptions::fields());
  }
};

/// Progress reported during training.
struct Progress {
  std::int64_t step = 0, steps = 0;         ///< optimiser steps done, and in the whole run
  std::int64_t epoch = 0, epochs = 0;       ///< epochs completed, and in the whole run
  double loss = 0;                          ///< mean training loss since the last report
  double learning_rate = 0;                 ///< at the last step
  double steps_per_second = 0;              ///< since the last report
  std::optional<data::Figures> validation;  ///< set at the end of an epoch
};

/// A snapshot that the trainer passes on to be stored; `state` resumes training bit for bit.
struct Snapshot {
  const ir::Graph* graph = nullptr;     ///< the graph that a resumed run starts from
  const ir::Graph* deployed = nullptr;  ///< the best graph to use, with folded batch norms
  std::string state;                    ///< optimiser moments and counters, opaque bytes
  std::int64_t step = 0, epoch = 0;
  bool best = false;  ///< best validation loss so far
  bool last = false;  ///< newest resumable state
};

/// Functions that are called during training, on its thread. Either may be empty.
struct TrainCallbacks {
  std::function<void(const Progress&)> progress;
  std::function<void(const Snapshot&)> save;
};

/// How a training run ended.
struct TrainResult {
  std::int64_t steps = 0, epochs = 0;
  double final_loss = 0;
  data::Figures best_validation;
  bool stopped_early = false;
};

}  // namespace mase::backend
