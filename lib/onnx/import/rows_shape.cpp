// SPDX-License-Identifier: Apache-2.0
// Rows of operators that move elements or say shapes.
#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "ir/naming.hpp"
#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/moves.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/transposes.hpp"

namespace mase::onnx {
namespace {

/// A bound of the dimensions that are asked for.
std::int64_t bound(Call& call, std::string_view name, std::int64_t otherwise) {
  const std::int64_t rank = call.rank(0), at = call.integer(name, otherwise);
  return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
}

void shape(Call& call) {
  const ir::NodeId input = call.tensor(0);
  const std::int64_t end = bound(call, "end", call.rank(0));
  std::vector<ir::Value> sizes;
  for (std::int64_t i = bound(call, "start", 0); i < end; ++i) sizes.push_back(call.size(input, i));
  call.result(HostTensor::integers(std::move(sizes)));
}

std::optional<HostTensor> host_shape(Call& call) {
  const Shape sizes = call.shape(0);
  const std::int64_t first = bound(call, "start", 0);
  const std::int64_t end = std::max(first, bound(call, "end", call.rank(0)));
  return HostTensor::integers({sizes.begin() + first, sizes.begin() + end});
}

/// A size of 0 stands for the input's.
void reshape(Call& call) {
  HostTensor sizes = call.host(1);
  if (call.integer("allowzero", 0) == 0)
    for (std::size_t i = 0; i < sizes.items.size(); ++i)
      if (sizes.items[i] == ir::Value(0))
        sizes.items[i] = call.size(call.tensor(0), static_cast<std::int64_t>(i));
  call.result(
      call.emit("aten::reshape", {{"self", call.ref(0)}, {"shape", ir::Value::list(sizes.items)}}));
}

/// The shape that a call gives to operand 0, which is known.
using NewShape = Shape (*)(Call& call);

Row::Host on_host(NewShape shape) {
  return [shape](Call& call) -> std::optional<HostTensor> {
    HostTensor tensor = call.host(0);
    tensor.shape = shape(call);
    return tensor;
  };
}

Row::Fold on_constant(NewShape shape) {
  return [shape](Call& call) { return std::optional(call.constant(0)->reshaped(shape(call))); };
}

Shape reshaped_shape(Call& call) {
  const Shape given = call.shape(0);
  const auto sizes = call.integers(1);
  const bool copies = call.integer("allowzero", 0) == 0;
  Shape shape;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape.push_back(sizes[i] == 0 && copies ? given.at(i) : sizes[i]);
    if (shape.back() != -1) known *= shape.back();
  }
  const std::int64_t count = numel(given);
  for (std::int64_t& size : shape)
    if (size == -1) size = known == 0 ? 0 : count / known;
  if (product_of(shape) != count) call.wrong("its shape does not fit its operand");
  return shape;
}

void flatten(Call& call) {
  const std::int64_t rank = call.rank(0);
  const std::int64_t given = call.integer("axis", 1);
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis == 1 && rank >= 2)
    return call.result(call.layer("aten::flatten.using_ints",
                                  {{"self", call.ref(0)}, {"start_dim", 1}}, TensorPaths{}));
  // The result has two dimensions, whatever the rank is.
  ir::Value rows = 1;
  if (axis == 1) rows = call.size(call.tensor(0), 0);
  ir::Value columns = -1;
  if (axis == rank) {
    rows = -1;
    columns = 1;
  } else if (axis > 1) {
    std::int64_t product = 1;
    const Shape shape = call.shape(0);
    for (std::int64_t i = axis; i < rank; ++i) {
      const auto size = call.importer().worlds().fixed_size(call.tensor(0), std::size_t(i));
      if (!size) call.refuse("the sizes after its axis vary");
      product *= *size;
    }
    rows = -1;
    columns = product;
  }
  call.result(call.emit("aten::reshape",
                        {{"self", call.ref(0)}, {"shape", ir::Value::list({rows, columns})}}));
}

/// The axes of Squeeze or Unsqueeze in ascending order.
std::vector<std::int64_t> sorted_axes(Call& call, std::int64_t rank) {
  auto axes = call.axes(1, rank);
  if (!axes) {
    axes.emplace();
    const Shape shape = call.shape(0);
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == 1) axes->push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::sort(*axes);
  return *axes;
}

std::int64_t unsqueezed_rank(Call& call) {
  const auto axes =
      call.has(1) ? call.integers(1) : call.integers("axes").value_or(std::vector<std::int64_t>{});
  return call.rank(0) + static_cast<std::int64_t>(axes.size());
}

void unsqueeze(Call& call) {
  ir::NodeId result = call.tensor(0);
  for (const std::int64_t axis : sorted_axes(call, unsqueezed_rank(call)))
    result = call.emit("aten::unsqueeze", {{"self", ref(result)}, {"dim", axis}});
  call.result(result);
}

Shape unsqueezed_shape(Call& call) {
  Shape shape = call.shape(0);
  for (const std::int64_t axis : sorted_axes(call, unsqueezed_rank(call)))
    shape.insert(shape.begin() + axis, 1);
  return shape;
}

/// The tensor without a dimension of size 1; what had been there before it got this dimension.
ir::NodeId squeezed(Call& call, ir::NodeId tensor, std::int64_t dim) {
  const ir::Node& node = call.importer().graph().node(tensor);
  if (const ir::Value* at = node.op == "aten::unsqueeze" ? node.find("dim") : nullptr;
      at && *at == ir::Value(dim))
    return node.find("self")->node();
  return call.emit("aten::squeeze.dim", {{"self", ref(tensor)}, {"dim", dim}});
}

void squeeze(Call& call) {
  ir::NodeId result = call.tensor(0);
  auto axes = sorted_axes(call, call.rank(0));
  std::ranges::reverse(axes);
  for (const std::int64_t axis : axes) result = squeezed(call, result, axis);
  call.result(result);
}

Shape squeezed_shape(Call& call) {
  Shape shape = call.shape(0);
  auto axes = sorted_axes(call, call.rank(0));
  std::ranges::reverse(axes);
  for (const std::int64_t axis : axes) {
    if (shape.at(std::size_t(axis)) != 1) call.wrong("it squeezes a dimension that is not 1");
    shape.erase(shape.begin() + axis);
  }
  return shape;
}

std::vector<std::int64_t> permutation(Call& call) {
  std::vector<std::int64_t> reversed(static_cast<std::size_t>(call.rank(0)));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  auto perm = call.integers("perm").value_or(reversed);
  auto sorted = perm;
  std::ranges::sort(sorted);
  if (!std::ranges::equal(sorted, std::vector<std::int64_t>(reversed.rbegin(), reversed.rend())))
    call.wrong("its perm is not an order of the " + std::to_string(reversed.size()) +
               " dimensions");
  return perm;
}

void transpose(Call& call) {
  const auto perm = permutation(call);
  if (call.constant(0) && perm == std::vector<std::int64_t>{1, 0})
    return call.result(Operand{.transpose_of = call.node().inputs[0]});
  call.result(transposed_tensor(call, call.tensor(0), perm));
}

std::optional<HostTensor> host_transpose(Call& call) {
  // A constant matrix may be the weight of a product, which reads it as it is stored.
  const Array* known = call.constant(0);
  if (known && known->shape().size() == 2 && known->dtype() == DType::float32) return std::nullopt;
  const HostTensor tensor = call.host(0);
  const auto perm = permutation(call);
  std::vector<std::int64_t> steps(perm.size(), 1);
  for (std::size_t i = perm.size(); i-- > 1;) steps[i - 1] = steps[i] * tensor.shape[i];
  Shape shape;
  for (const std::int64_t dim : perm) shape.push_back(tensor.shape[static_cast<std::size_t>(dim)]);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < numel(shape); ++i) {
    std::int64_t rest = i, place = 0;
    for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k])
      place += rest % shape[k] * steps[static_cast<std::size_t>(perm[k])];
    places.push_back(place);
  }
  return picked(tensor, shape, places);
}

void concat(Call& call) {
  std::vector<ir::Value> tensors;
  for (std::size_t i = 0; i < call.count(); ++i) tensors.push_back(call.ref(i));
  const std::int64_t axis = call.integer("axis", 1);
  call.result(
      call.emit("aten::cat", {{"tensors", ir::Value::list(std::move(tensors))}, {"dim", axis}}));
}

std::optional<HostTensor> host_concat(Call& call) {
  HostTensor all = call.host(0);
  if (all.shape.size() != 1) return std::nullopt;
  for (std::size_t i = 1; i < call.count(); ++i) {
    const HostTensor one = call.host(i);
    all.items.insert(all.items.end(), one.items.begin(), one.items.end());
  }
  all.shape = {static_cast<std::int64_t>(all.items.size())};
  return all;
}

std::optional<Array> fold_concat(Call& call) {
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < call.count(); ++i) arrays.push_back(*call.constant(i));
  return joined(arrays, static_cast<std::size_t>(call.axis(call.integer("axis", 1), call.rank(0))));
}

void constant(Call& call) {
  const auto whole = [&](std::string_view name, DType dtype) {
    HostTensor tensor{dtype, {}, {}};
    if (dtype == DType::int64)
      tensor.items.emplace_back(call.integer(name, 0));
    else
      tensor.items.emplace_back(call.number(name, 0.0));
    call.result(std::move(tensor));
  };
  if (const Tensor* tensor = call.tensor_attribute("value")) {
    const ElementRow* row = find_element(tensor->type);
    if (!row || !row->dtype) call.refuse("its elements are of type " + element_name(tensor->type));
    return call.result(
        Operand{.constant = Constant{tensor->value, call.node().outputs.at(0), {}, false}});
  }
  if (call.has_attribute("value_int")) return whole("value_int", DType::int64);
  if (call.has_attribute("value_float")) return whole("value_float", DType::float32);
  if (const auto numbers = call.integers("value_ints"))
    return call.result(HostTensor::integers({numbers->begin(), numbers->end()}));
  if (const auto numbers = call.numbers("value_floats"))
    return call.result(HostTensor{DType::float32,
                                  {static_cast<std::int64_t>(numbers->size())},
                                  {numbers->begin(), numbers->end()}});
  call.refuse("its value is neither a tensor nor numbers");
}

/// Whether PyTorch names a tensor of a module so: "block.0.weight".
bool is_tensor_name(std::string_view name) {
  return !ir::owner_of(name).empty() && std::ranges::all_of(name, [](char one) {
    return is_identifier_char(one) || one == '.' || one == '-';
  });
}

/// PyTorch's older exporter stores equal tensors once: the others come from an Identity, whose
/// result has their name.
void identity(Call& call) {
  Operand result = call.value(0);
  const std::string& name = call.node().outputs.at(0);
  if (result.constant && result.constant->is_parameter && is_tensor_name(name)) {
    result.constant->name = name;
    result.constant->path.clear();
    result.node = ir::no_node;
  }
  call.result(std::move(result));
}

}  // namespace

std::vector<Row> shape_rows() {
  return {
      {"Shape", 1, shape, host_shape},
      {"Reshape", 5, moving(reshape), on_host(reshaped_shape), {}, {}, on_constant(reshaped_shape)},
      {"Flatten", 1, moving(flatten)},
      {"Unsqueeze",
       1,
       moving(unsqueeze),
       on_host(unsqueezed_shape),
       {},
       {},
       on_constant(unsqueezed_shape)},
      {"Squeeze", 1, moving(squeeze), on_host(squeezed_shape), {}, {}, on_constant(squeezed_shape)},
      {"Transpose", 1, moving(transpose), host_transpose},
      {"Concat", 4, moving(concat), host_concat, {}, {}, fold_concat},
      {"Constant", 1, constant},
      {"Identity", 1, identity},
  };
}

}  // namespace mase::onnx
