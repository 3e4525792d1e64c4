// SPDX-License-Identifier: Apache-2.0
// Inputs of a model: examples, symbols of the file, and inputs that become constants.
#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "ir/vary_batch.hpp"
#include "onnx/import/annotations.hpp"
#include "onnx/import/importer.hpp"

namespace mase::onnx {
namespace {

/// Sizes of symbols in the other world are multiples of the example's, which keeps what divides.
constexpr std::int64_t other_factor = 2;
/// The size of a symbol without an example: the batch comes first.
constexpr std::int64_t default_batch = 2, default_size = 32;

std::string type_text(const ValueInfo& input) {
  std::vector<std::string> sizes;
  if (!input.shape) return element_name(input.type);
  for (const Dimension& dim : *input.shape)
    sizes.push_back(dim.size ? std::to_string(*dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  return element_name(input.type) + "[" + join(sizes, ", ") + "]";
}

}  // namespace

std::vector<const ValueInfo*> inputs_of(const Model& model) {
  std::set<std::string_view> stored;
  for (const Tensor& tensor : model.graph.initializers) stored.insert(tensor.name);
  std::vector<const ValueInfo*> inputs;
  for (const ValueInfo& input : model.graph.inputs)
    if (!stored.contains(input.name)) inputs.push_back(&input);
  return inputs;
}

void Importer::add_input(const ValueInfo& input, const Array* example) {
  const auto refuse = [&](const std::string& reason) {
    config_error(path() + ": the input '" + input.name + "' is " + type_text(input) + ", but " +
                 reason);
  };
  const auto dtype = dtype_of(input.type);
  if (input.kind != "tensor" || !dtype)
    unsupported_error(
        path() + ": the input '" + input.name + "' is a " +
        (input.kind == "tensor" ? "tensor of " + element_name(input.type) : input.kind) +
        "; inputs are tensors of numbers");
  check_dtype(*dtype, "the input '" + input.name + "'");
  if (!input.shape && !example)
    config_error(path() + ": the file does not say the shape of the input '" + input.name +
                 "'; give --input-shape " + input.name + "=SHAPE");
  Shape sizes, others;
  bool is_other_batch = false;
  const std::size_t rank = input.shape ? input.shape->size() : example->shape().size();
  if (example && example->shape().size() != rank)
    refuse("the example has the shape " + shape_text(example->shape()));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dimension dim = input.shape ? (*input.shape)[i] : Dimension{};
    std::int64_t size = dim.size.value_or(i == 0 ? default_batch : default_size);
    if (!dim.size) size = restorer_.size_of(input.name, i).value_or(size);
    if (!dim.size)
      if (const auto known = symbols_.find(dim.symbol); known != symbols_.end())
        size = known->second;
    if (example) size = example->shape()[i];
    const bool other_batch = dim.size && size != *dim.size && i == 0;
    if (other_batch) size = *dim.size;
    is_other_batch = is_other_batch || other_batch;
    if (dim.size && size != *dim.size)
      refuse("the example has the shape " + shape_text(example->shape()) +
             "; torch.onnx.export has dynamic_shapes (dynamic_axes) for sizes that vary");
    if (!dim.size && !dim.symbol.empty()) symbols_.emplace(dim.symbol, size);
    sizes.push_back(size);
    others.push_back(dim.size ? size : size * other_factor);
  }
  ir::Node node;
  node.kind = ir::NodeKind::placeholder;
  node.name = input.name;
  node.target = input.name;
  if (*dtype == DType::float32)
    if (auto format = annotated_format(model_.graph, input.name))
      node.formats.emplace("data_out", std::move(*format));
  const ir::NodeId id = graph().add(std::move(node));
  newest_ = id;
  if (is_other_batch) other_batch_.push_back(id);
  worlds_.input(id, ir::ValueInfo::tensor(*dtype, sizes), ir::ValueInfo::tensor(*dtype, others));
  define(input.name, {.node = id});
}

namespace {

/// A number or a list of numbers as an array of the input's dtype.
Array fixed_array(const Tree& tree, DType dtype, const std::string& name) {
  HostTensor tensor{dtype, {}, {}};
  const auto number = [&](const Tree& one) -> ir::Value {
    if (one.is_bool()) return one.as_bool();
    if (one.is_int()) return one.as_int();
    if (one.is_number()) return one.as_double();
    config_error("--fix " + name + ": the value must be a number or a list of numbers");
  };
  if (tree.is_list()) {
    for (const Tree& one : tree.as_list()) tensor.items.push_back(number(one));
    tensor.shape = {static_cast<std::int64_t>(tensor.items.size())};
  } else {
    tensor.items.push_back(number(tree));
  }
  return array_of(tensor);
}

/// Whether a size of an input besides the batch of a file is a symbol.
bool has_symbols(const Model& model) {
  return std::ranges::any_of(inputs_of(model), [](const ValueInfo* input) {
    return !input->shape ||
           std::ranges::any_of(*input->shape, [](const Dimension& dim) { return !dim.size; });
  });
}

}  // namespace

void Importer::vary_batch() {
  if (other_batch_.empty()) return;
  const auto example_of = [&](ir::NodeId id) -> const Shape& {
    return options_.inputs.at(graph().node(id).target).shape();
  };
  const ir::NodeId first = other_batch_.front();
  const std::string name = graph().node(first).target;
  const std::int64_t in_file = graph().node(first).info.shape.front(),
                     batch = example_of(first).front();
  for (const ir::NodeId id : other_batch_)
    if (graph().node(id).info.shape.front() != in_file || example_of(id).front() != batch)
      config_error(path() + ": the inputs '" + name + "' and '" + graph().node(id).target +
                   "' have different batches");
  const auto obstacle = ir::vary_batch(graph(), other_batch_, batch, has_symbols(model_));
  if (obstacle) {
    const auto made = made_.lower_bound(obstacle->node);
    unsupported_error(path() + ": the file is for the batch " + std::to_string(in_file) +
                      ", but the example of '" + name + "' has the batch " + std::to_string(batch) +
                      "; other batches cannot be taken because of " +
                      (made == made_.end() ? "the output" : made->second) + ": " +
                      obstacle->reason +
                      "; torch.onnx.export has dynamic_shapes (dynamic_axes) for sizes that vary");
  }
  note("the file is for the batch " + std::to_string(in_file) +
       "; the graph takes any, and computes each row as the file does");
}

void Importer::add_inputs() {
  const auto inputs = inputs_of(model_);
  for (const auto& [name, tree] : options_.fixed)
    if (std::ranges::find(inputs, name, &ValueInfo::name) == inputs.end())
      config_error("--fix: " + path() + " has no input '" + name + "'");
  for (const ValueInfo* input : inputs) {
    const auto fix = [&](Array value) {
      define(input->name, {.constant = Constant{std::move(value), input->name, {}, false}});
    };
    if (const auto fixed = options_.fixed.find(input->name); fixed != options_.fixed.end()) {
      const DType dtype = dtype_of(input->type).value_or(DType::float32);
      fix(fixed_array(fixed->second, dtype, input->name));
      continue;
    }
    if (const auto fixed = options_.constants.find(input->name);
        fixed != options_.constants.end()) {
      fix(fixed->second);
      continue;
    }
    const auto example = options_.inputs.find(input->name);
    add_input(*input, example == options_.inputs.end() ? nullptr : &example->second);
  }
}

}  // namespace mase::onnx
