// SPDX-License-Identifier: Apache-2.0
// The compiled form of a graph: one step per node, with its operator and the sources of its
// arguments.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/evaluator.hpp"
#include "ir/graph.hpp"
#include "ir/leaf_bodies.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/fold_batch_norm.hpp"
#include "torch/run/normalise_kernels.hpp"
#include "torch/run/operators.hpp"
#include "torch/run/recurrent.hpp"
#include "torch/run/row_draws.hpp"

namespace mase::libtorch {

/// How values are quantized at a port. Without a format they are not.
struct PortFormat {
  const formats::Format* format = nullptr;
  at::Tensor log2_step;  ///< log2 of the format's step, if it is learned
  std::string port;
  std::uint64_t place = 0;   ///< place for random numbers (training_rounding.hpp)
  bool keeps_masks = false;  ///< leaves masks as -inf (ir/masks.hpp)

  void set(const ir::Node& node, const std::string& name, const formats::Format& by);
};

/// The source of an argument at run time. Its format is applied before the call.
struct Recipe : PortFormat {
  enum class Kind { constant, slot, tensor, training, average, list, tuple, dict };
  Kind kind = Kind::constant;
  c10::IValue constant;
  ir::NodeId slot = ir::no_node;
  bool last_use = false;               ///< this is the last read of the slot, so move out of it
  const at::Tensor* tensor = nullptr;  ///< the tensor, or the counted batches of an average
  std::vector<Recipe> items;           ///< list, tuple and dict
  std::vector<std::string> keys;       ///< dict
  c10::TypePtr type;                   ///< list
  bool in_training = true;             ///< quantize in training too; not for running statistics
  at::Tensor cached;                   ///< quantized parameter, cached between eval runs
};

/// A node that is ready to run: the sources of its arguments, and the function that computes it.
struct PlanStep {
  enum class Kind { input, tensor, identity, get_item, host, recurrent, aten, output };
  const ir::Node* node = nullptr;
  const ir::Node* shown =
      nullptr;  ///< node for observers: the leaf whose port it rounds, or itself
  Kind kind = Kind::aten;
  std::optional<c10::OperatorHandle> aten;
  std::optional<c10::OperatorHandle> in_place;  ///< the same, in place
  bool is_batch_norm = false;
  DrawByRow draw_by_row = nullptr;   ///< for parts of a batch
  bool hides = false;                ///< a softmax that sets masked elements to 0
  bool has_demands = false;          ///< demands that ATen does not check
  std::vector<std::size_t> on_host;  ///< arguments that must be on the CPU; empty if all are
  const HostOperator* host = nullptr;
  const RecurrentOp* recurrent = nullptr;
  RecurrentConstants constants;    ///< for a recurrent layer
  bool trains_with_graph = false;  ///< `train` is true while the graph is trained
  std::vector<Recipe> arguments;
  PortFormat out;
  std::vector<ir::NodeId> dead;         ///< slots that are not read after this step
  const at::Tensor* batches = nullptr;  ///< num_batches_tracked of a batch norm
  PlanStep* norm = nullptr;             ///< the batch norm that is folded into this layer
  /// For a batch norm: the sum with the slot `addend` and the activation to compute with it.
  PlanStep *sum = nullptr, *activation = nullptr;
  ir::NodeId addend = ir::no_node;
  Clamp clamp;
  bool done = false;           ///< computed in this run by the batch norm before it: result ...
  std::size_t done_place = 0;  ///< ... is this argument
};

/// A graph at one level of exactness, as a sequence of steps.
struct Executor::Plan {
  Plan(const ir::Graph& source, ir::Level run_level, c10::Device where);

  c10::IValue run(const std::vector<c10::IValue>& inputs, bool train,
                  const TensorObserver* observe_tensor, const ValueObserver* observe_value);

  int fold_batch_norms();
  void store_folded(ir::Graph& target);

  ir::LeafPorts leaf_ports;
  std::map<ir::NodeId, ir::Node> leaves;  ///< original leaves of those ports
  ir::Graph graph;
  ir::Level level;
  c10::Device device;
  std::map<std::string, at::Tensor> tensors;
  std::vector<PlanStep> steps;
  TrainingRounding rounding;

 private:
  friend class PlanBuilder;
  void run_step(PlanStep& step, const std::vector<c10::IValue>& inputs, std::size_t& next_input);
  c10::IValue call(PlanStep& step);
  c10::IValue call_aten(PlanStep& step);
  void call_operator(PlanStep& step);
  c10::IValue moved(const c10::IValue& value) const;
  void bring_to_host(const PlanStep& step);
  bool call_norm(PlanStep& step);
  bool call_shared_norm();
  c10::IValue take_done(PlanStep& step);
  c10::IValue call_recurrent(PlanStep& step);
  c10::IValue call_folded(PlanStep& layer);
  at::Tensor call_layer(PlanStep& layer, const at::Tensor& input, const FoldedLayer& tensors);
  NormTensors norm_of(PlanStep& norm);
  void use_batch_statistics(PlanStep& layer, const at::Tensor& input, const at::Tensor& bias,
                            NormTensors& norm);
  FoldedLayer folded_in_eval(PlanStep& layer);
  c10::IValue evaluate(Recipe& recipe);
  c10::IValue fetch(Recipe& recipe);
  c10::IValue quantized(Recipe& recipe, c10::IValue value);
  bool quantizes(const Recipe& recipe) const;
  at::Tensor show_quantized(const Recipe& recipe, const at::Tensor& tensor, std::int64_t item);
  at::Tensor rounded(const at::Tensor& tensor, const PortFormat& by, Rounded what,
                     std::int64_t item = 0) const;
  at::Tensor on_grid(const at::Tensor& tensor, const PortFormat& by, Rounded what,
                     std::int64_t item) const;
  void finish(const PlanStep& step, c10::IValue value);

  // State of the run in progress.
  bool training_ = false;
  const TensorObserver* observe_tensor_ = nullptr;
  const ValueObserver* observe_value_ = nullptr;
  const PlanStep* current_ = nullptr;
  std::vector<c10::IValue> slots_;
  std::vector<c10::IValue> stack_;
  c10::IValue result_;
};

}  // namespace mase::libtorch
