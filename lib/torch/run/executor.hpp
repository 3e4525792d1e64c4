// SPDX-License-Identifier: Apache-2.0
// Executor compiles a graph to a flat list of cached operators and runs it to evaluate and train.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/evaluator.hpp"
#include "ir/graph.hpp"
#include "torch/run/training_rounding.hpp"

namespace mase::libtorch {

/// Called with tensors while a graph runs. Like ir::Observer, but without conversion to an Array.
using TensorObserver =
    std::function<void(const ir::Node&, const std::string& port, const at::Tensor&)>;
/// Called with the value of every node, both tensors and host values.
using ValueObserver = std::function<void(const ir::Node&, const c10::IValue&)>;

/// Runs a graph. The graph is copied (weights are shared), so the caller may change it afterwards.
/// All errors are mase::Error and name the node. Not thread-safe: use one executor per thread.
class Executor {
 public:
  /// Throws an Error(Fault::unsupported) that lists every node whose operator cannot be run. Its
  /// tensors lie on `device`, where results and what observers see lie too.
  Executor(const ir::Graph& graph, ir::Level level, c10::Device device = c10::kCPU);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  const ir::Graph& graph() const;
  c10::Device device() const;

  /// Runs in eval mode without gradients. The inputs are in the order of the placeholders, are
  /// moved to the device, and are not checked against the graph (`check_inputs` does that).
  /// Quantized parameters are cached.
  c10::IValue run(const std::vector<c10::IValue>& inputs);
  /// The same, and calls `observe_tensor` with every tensor and `observe_value` with every value.
  c10::IValue run(const std::vector<c10::IValue>& inputs, const TensorObserver& observe_tensor,
                  const ValueObserver& observe_value = {});

  /// The tensors the plan reads, by path. On the CPU they are read-only views of the graph's
  /// arrays; a trainer assigns its own tensors (leaves that require gradients, views of flat
  /// buffers). The executor reads the table at every run, so assignments take effect at once.
  std::map<std::string, at::Tensor>& tensors();
  /// Gives every tensor of the table its own memory, so that running statistics may be updated.
  /// Float parameters with `requires_grad` become leaves. Call this before the first
  /// `run_training`, unless the caller has assigned all tensors.
  void own_tensors();
  /// Copies the values of the table into `graph`, which has the same paths.
  void store_tensors(ir::Graph& graph) const;
  /// Drops cached quantized parameters. Call it after changing values of `tensors()` between two
  /// eval runs; a training run drops them itself.
  void forget_quantized();

  /// Sets whether formats are applied (ir::Level::quantized) or the graph runs in float.
  void set_level(ir::Level level);
  /// Replaces the format of a port that has one.
  void set_format(ir::NodeId node, const std::string& port, const formats::Format& format);
  /// From now on training runs compute a gradient for `log2_step`, a float32 scalar that requires
  /// one: that of the logarithm of this port's fixed-point step (see quantize_op.hpp).
  void learn_step(ir::NodeId node, const std::string& port, const at::Tensor& log2_step);

  /// How training runs round; set it before each run. Eval runs draw no random numbers, because
  /// they use formats as deterministic().
  TrainingRounding& rounding();

  /// From now on runs each linear or convolution layer and the batch norm after it, if neither has
  /// another user, as one layer with folded weights, so that w * weight / sigma is quantized. The
  /// statistics are the batch's in training (Jacob et al., CVPR 2018, section 3.2), else the
  /// running ones. Returns their number; Error(Fault::config) if such a batch norm has formats.
  int fold_batch_norms();
  /// Folds these batch norms in `graph`, which has the nodes of this executor, with the values of
  /// the table. The graph then computes exactly what this executor computes in eval runs.
  void store_folded(ir::Graph& graph) const;

  /// Runs in training mode with gradients: `$training` is true, batch norms update the running
  /// statistics and `num_batches_tracked`, and parameters are quantized again, with
  /// straight-through gradients.
  c10::IValue run_training(const std::vector<c10::IValue>& inputs);

 private:
  friend class PlanBuilder;
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// Converts inputs for `graph`. Checks number, dtype (exact conversions, such as int32 to int64,
/// are made), rank and guards. Error(Fault::file) that names the wrong input and what was expected.
std::vector<c10::IValue> check_inputs(const ir::Graph& graph, const std::vector<Array>& inputs);

/// The results by name, as ir::Results describes them. Error(Fault::unsupported) for nested
/// containers with anything but tensors.
ir::Results results_of(const c10::IValue& value);

/// Makes an ir::Evaluator that uses an Executor.
std::unique_ptr<ir::Evaluator> make_evaluator(const ir::Graph& graph, ir::Level level,
                                              c10::Device device = c10::kCPU);

}  // namespace mase::libtorch
