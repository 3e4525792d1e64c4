// SPDX-License-Identifier: Apache-2.0
// Executor: a graph compiled to a flat list of cached operators, run for evaluation and training.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/evaluator.hpp"
#include "ir/graph.hpp"
#include "torch/run/training_rounding.hpp"

namespace mase::libtorch {

/// Sees tensors while a graph runs; ports as ir::Observer, before conversion to an Array.
using TensorObserver =
    std::function<void(const ir::Node&, const std::string& port, const at::Tensor&)>;
/// Sees the value of every node, tensors and host values alike.
using ValueObserver = std::function<void(const ir::Node&, const c10::IValue&)>;

/// Runs one graph. The graph is copied (weights shared), so the caller's may change afterwards. All
/// errors are mase::Error and name the node. Not thread-safe: one executor per thread.
class Executor {
 public:
  /// Error(Fault::unsupported) listing every node whose operator cannot be run.
  Executor(const ir::Graph& graph, ir::Level level);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  const ir::Graph& graph() const;

  /// Runs in eval mode without gradients. Inputs in the order of the placeholders; they are not
  /// checked against the graph (`check_inputs` does that). Quantized parameters are cached.
  c10::IValue run(const std::vector<c10::IValue>& inputs);
  /// The same, with every tensor shown to `observe_tensor` and every value to `observe_value`.
  c10::IValue run(const std::vector<c10::IValue>& inputs, const TensorObserver& observe_tensor,
                  const ValueObserver& observe_value = {});

  /// The tensors the plan reads, by path. At first they are read-only views of the graph's arrays;
  /// a trainer assigns its own tensors (leaves that require gradients, views of flat buffers). The
  /// executor reads the table at every run, so assignments take effect at once.
  std::map<std::string, at::Tensor>& tensors();
  /// Gives every tensor of the table its own memory, so that running statistics may be updated;
  /// float parameters with `requires_grad` become leaves. Call before the first `run_training`,
  /// unless every tensor was assigned by the caller.
  void own_tensors();
  /// Copies the table's values into `graph` (same paths).
  void store_tensors(ir::Graph& graph) const;
  /// Forgets cached quantized parameters: call after changing values of `tensors()` between two
  /// eval runs. A training run forgets them by itself.
  void forget_quantized();

  /// Whether formats are applied from now on (ir::Level::quantized), or the graph runs in float.
  void set_level(ir::Level level);
  /// Replaces the format of a port that has one.
  void set_format(ir::NodeId node, const std::string& port, const formats::Format& format);
  /// Training runs give `log2_step`, a float32 scalar that requires a gradient, the gradient of the
  /// logarithm of this port's step (see quantize_op.hpp); the port's format is fixed point.
  void learn_step(ir::NodeId node, const std::string& port, const at::Tensor& log2_step);

  /// How training runs round; to be set before each of them. Eval runs draw no numbers: formats
  /// are deterministic() in them.
  TrainingRounding& rounding();

  /// From now on runs linear and convolution layers with the batch norm behind them, where each has
  /// no other user, as one layer with folded weights: what is quantized is w * weight / sigma. In
  /// training the statistics are the batch's (Jacob et al., CVPR 2018, section 3.2), else the
  /// running ones. Returns how many; Error(Fault::config) for such a batch norm with formats.
  int fold_batch_norms();
  /// Folds those batch norms in `graph`, which has this executor's nodes, with the table's values:
  /// it then computes the bits of this executor's eval runs.
  void store_folded(ir::Graph& graph) const;

  /// Runs in training mode with gradients: `$training` is true, batch norms use and update running
  /// statistics and `num_batches_tracked`, parameters are quantized anew with straight-through
  /// gradients.
  c10::IValue run_training(const std::vector<c10::IValue>& inputs);

 private:
  friend class PlanBuilder;
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Converts inputs for `graph`: number, dtype (int32 to int64 and the like when exact), rank and
/// guards are checked. Error(Fault::file) saying which input is wrong and what was expected.
std::vector<c10::IValue> check_inputs(const ir::Graph& graph, const std::vector<Array>& inputs);

/// Results by name as ir::Results describes them; Error(Fault::unsupported) for nested containers
/// of anything but tensors.
ir::Results results_of(const c10::IValue& value);

/// ir::Evaluator on an Executor.
std::unique_ptr<ir::Evaluator> make_evaluator(const ir::Graph& graph, ir::Level level);

}  // namespace mase::libtorch
