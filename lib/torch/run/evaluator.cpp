// SPDX-License-Identifier: Apache-2.0
// Implements ir::Evaluator with an Executor: checks inputs, converts arrays, names results.
#include <ATen/core/ivalue.h>
#include <ATen/ops/scalar_tensor.h>

#include <optional>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "base/text.hpp"
#include "ir/guards.hpp"
#include "torch/run/executor.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

bool is_whole(DType dtype) {
  switch (dtype) {
    case DType::int64:
    case DType::int32:
    case DType::int16:
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
      return true;
    default:
      return false;
  }
}

/// Whether a conversion is exact for all values: integers to int64, and half precision to float32.
bool converts_exactly(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::int64) return is_whole(from);
  if (to == DType::float64) return from == DType::float32 || from == DType::float16;
  return to == DType::float32 && (from == DType::float16 || from == DType::bfloat16);
}

std::string advice(DType from, DType to) {
  if (from == DType::float64 && to == DType::float32) {
    return "; convert it with x.astype('float32') before saving";
  }
  return "; save it as " + std::string(dtype_name(to));
}

c10::IValue check_input(const ir::Node& placeholder, const Array& input) {
  const ir::ValueInfo& info = placeholder.info;
  at::Tensor tensor = view_of(input);
  if (!info.is_tensor()) return tensor;
  const std::string what = "input '" + placeholder.name + "'";
  if (!converts_exactly(input.dtype(), info.dtype)) {
    file_error(what + " is " + std::string(dtype_name(input.dtype())) + ", but the model takes " +
               std::string(dtype_name(info.dtype)) + advice(input.dtype(), info.dtype));
  }
  if (input.shape().size() != info.shape.size()) {
    file_error(what + " has the shape " + shape_text(input.shape()) + ", but the model takes " +
               std::to_string(info.shape.size()) + " dimensions, such as " +
               shape_text(info.shape));
  }
  return tensor.to(scalar_type(info.dtype));
}

/// Whether a guard may depend on dimension `dim` of a placeholder: whether it reads that size, or
/// the size of a computed tensor, which may depend on anything.
bool may_depend(const ir::Graph& graph, const ir::Guard& guard, const ir::Node& placeholder,
                std::size_t dim) {
  const auto sizes = ir::sizes_in(guard.condition);
  if (!sizes) return true;
  for (const ir::ReadSize& size : *sizes) {
    const ir::Node* node = graph.find_node(size.name);
    if (!node || node->kind != ir::NodeKind::placeholder) return true;
    if (node->id == placeholder.id && from_front(size.dim, placeholder.info.shape.size()) == dim)
      return true;
  }
  return false;
}

/// Refuses another shape if a guard depends on it, because the import followed only one branch.
void check_guard(const ir::Graph& graph, const ir::Guard& guard, const ir::Node& placeholder,
                 const Shape& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == placeholder.info.shape[dim]) continue;
    if (!may_depend(graph, guard, placeholder, dim)) continue;
    file_error("input '" + placeholder.name + "' has the shape " + shape_text(shape) +
               ", but the model was imported with " + shape_text(placeholder.info.shape) +
               " and decides by a shape at " + guard.place + " (" + guard.condition +
               "); import it again with an example of the new shape");
  }
}

void check_guards(const ir::Graph& graph, const std::vector<Array>& inputs) {
  const auto placeholders = graph.placeholders();
  const auto size_of = [&](const ir::ReadSize& size) -> std::optional<std::int64_t> {
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
      if (graph.node(placeholders[i]).name != size.name) continue;
      const Shape& shape = inputs[i].shape();
      const auto dim = from_front(size.dim, shape.size());
      return dim ? std::optional(shape[*dim]) : std::nullopt;
    }
    return std::nullopt;
  };
  for (const ir::Guard& guard : graph.guards) {
    if (ir::holds(guard.condition, size_of) == true) continue;
    for (std::size_t i = 0; i < placeholders.size(); ++i) {
      const ir::Node& node = graph.node(placeholders[i]);
      if (node.info.is_tensor()) check_guard(graph, guard, node, inputs[i].shape());
    }
  }
}

/// The tensors in a value. What lies in a container has the container's name before its own.
void add_results(const std::string& name, const c10::IValue& value, ir::Results& results) {
  const auto within = [&](const std::string& own) { return name.empty() ? own : name + "." + own; };
  if (value.isNone()) return;  // such as GoogLeNet's auxiliary results, which only training has
  if (value.isTensor()) {
    results.emplace_back(name, to_array(value.toTensor(), "output"));
  } else if (value.isScalar()) {
    const at::Scalar number = value.toScalar();
    results.emplace_back(name, to_array(at::scalar_tensor(number, number.type()), "output"));
  } else if (value.isTuple() || value.isList()) {
    const auto& items = value.isTuple() ? at::ArrayRef<c10::IValue>(value.toTupleRef().elements())
                                        : value.toListRef();
    for (std::size_t i = 0; i < items.size(); ++i)
      add_results(within(std::to_string(i)), items[i], results);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (!entry.key().isString()) unsupported_error("the model returns a dict without text keys");
      add_results(within(entry.key().toStringRef()), entry.value(), results);
    }
  } else {
    unsupported_error("the model returns a value that is not a tensor (" + value.tagKind() +
                      "); supported are tensors, numbers, and tuples, lists and dicts of these");
  }
}

class TorchEvaluator : public ir::Evaluator {
 public:
  TorchEvaluator(const ir::Graph& graph, ir::Level level, c10::Device device)
      : executor_(graph, level, device) {}

  ir::Results run(const std::vector<Array>& inputs) override {
    return results_of(executor_.run(check_inputs(executor_.graph(), inputs)));
  }

  ir::Results run(const std::vector<Array>& inputs, const ir::Observer& observer) override {
    const TensorObserver observe = [&](const ir::Node& node, const std::string& port,
                                       const at::Tensor& tensor) {
      observer(node, port, to_array(tensor, "node '" + node.name + "'"));
    };
    return results_of(executor_.run(check_inputs(executor_.graph(), inputs), observe));
  }

 private:
  Executor executor_;
};

}  // namespace

std::vector<c10::IValue> check_inputs(const ir::Graph& graph, const std::vector<Array>& inputs) {
  const auto placeholders = graph.placeholders();
  if (placeholders.size() != inputs.size()) {
    std::string names;
    for (const ir::NodeId id : placeholders) names += " " + graph.node(id).name;
    file_error("the model takes " + std::to_string(placeholders.size()) + " inputs (" +
               names.substr(names.empty() ? 0 : 1) + "), " + std::to_string(inputs.size()) +
               " were given");
  }
  std::vector<c10::IValue> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(check_input(graph.node(placeholders[i]), inputs[i]));
  }
  check_guards(graph, inputs);
  return values;
}

ir::Results results_of(const c10::IValue& value) {
  ir::Results results;
  add_results("", value, results);
  if (results.empty()) unsupported_error("the model returns no tensor");
  return results;
}

std::unique_ptr<ir::Evaluator> make_evaluator(const ir::Graph& graph, ir::Level level,
                                              c10::Device device) {
  return std::make_unique<TorchEvaluator>(graph, level, device);
}

}  // namespace mase::libtorch
