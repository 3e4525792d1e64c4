// SPDX-License-Identifier: Apache-2.0
// Rows of tensors that are made from sizes and numbers.
#include <cmath>
#include <numbers>
#include <numeric>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// The only item of a host tensor.
ir::Value only(Call& call, std::size_t i) {
  const HostTensor tensor = call.host(i);
  if (tensor.items.size() != 1) call.wrong("its operands must be single numbers");
  return tensor.items[0];
}

/// A number on the host. A size that was converted to a real number is a tensor, whose size is
/// read.
ir::Value bound(Call& call, std::size_t i) {
  const ir::Graph& graph = call.importer().graph();
  if (!call.find_host(i) && call.operand(i).node != ir::no_node) {
    const ir::Node* node = &graph.node(call.operand(i).node);
    const ir::Value* converted = node->op.starts_with("aten::to.") && is_floating(node->info.dtype)
                                     ? node->find("self")
                                     : nullptr;
    if (converted && converted->is_node()) node = &graph.node(converted->node());
    const ir::Value* size = node->op == "aten::scalar_tensor" ? node->find("s") : nullptr;
    if (converted && size) return *size;
  }
  return only(call, i);
}

void range(Call& call) {
  call.result(call.emit("aten::arange.start_step", {{"start", bound(call, 0)},
                                                    {"end", bound(call, 1)},
                                                    {"step", bound(call, 2)},
                                                    {"dtype", number_of(call.dtype(0))}}));
}

std::optional<HostTensor> host_range(Call& call) {
  const ir::Value start = only(call, 0), limit = only(call, 1), delta = only(call, 2);
  if (start.is_node() || limit.is_node() || delta.is_node() || call.dtype(0) != DType::int64)
    return std::nullopt;
  std::vector<ir::Value> items;
  const std::int64_t step = delta.as_int(), end = limit.as_int();
  if (step == 0) call.wrong("its delta is zero");
  for (std::int64_t i = start.as_int(); step > 0 ? i < end : i > end; i += step) {
    if (static_cast<std::int64_t>(items.size()) >= most_host_items) return std::nullopt;
    items.emplace_back(i);
  }
  return HostTensor::integers(std::move(items));
}

/// The one element that fills a constant of a shape, and its dtype.
std::pair<ir::Value, DType> fill_of(Call& call) {
  const Tensor* value = call.tensor_attribute("value");
  if (!value) return {0.0, DType::float32};
  const auto dtype = dtype_of(value->type);
  if (!dtype) call.refuse("its elements are of type " + element_name(value->type));
  if (value->value.size() != 1) call.wrong("its value is not one element");
  if (const auto known = host_of(value->value)) return {known->items[0], *dtype};
  const double number = static_cast<double>(value->value.to_float32().span<float>()[0]);
  if (is_floating(*dtype)) return {number, *dtype};
  return {static_cast<std::int64_t>(number), *dtype};
}

void constant_of_shape(Call& call) {
  const auto [fill, dtype] = fill_of(call);
  call.result(call.emit("aten::full", {{"size", ir::Value::list(call.sizes(0))},
                                       {"fill_value", fill},
                                       {"dtype", number_of(dtype)}}));
}

std::optional<HostTensor> host_constant_of_shape(Call& call) {
  const HostTensor sizes = call.host(0);
  const auto [fill, dtype] = fill_of(call);
  if (!sizes.is_constant() || dtype != DType::int64) return std::nullopt;
  const Shape shape = call.integers(0);
  const std::int64_t count = numel(shape);
  if (count > most_host_items) return std::nullopt;
  return HostTensor{dtype, shape, std::vector<ir::Value>(static_cast<std::size_t>(count), fill)};
}

void element_count(Call& call) {
  const ir::NodeId input = call.tensor(0);
  std::int64_t product = 1;
  for (std::int64_t dim = 0; dim < call.rank(0); ++dim) {
    const auto fixed = call.importer().worlds().fixed_size(input, static_cast<std::size_t>(dim));
    if (!fixed) return call.result(applied(call, "aten::numel", input));
    product *= *fixed;
  }
  call.result(HostTensor::integer(product));
}

std::optional<HostTensor> host_size(Call& call) {
  return HostTensor::integer(static_cast<std::int64_t>(call.host(0).items.size()));
}

void eye_like(Call& call) {
  if (call.rank(0) != 2) call.wrong("its operand is not a matrix");
  DType dtype = call.dtype(0);
  if (call.has_attribute("dtype")) {
    const auto wanted = dtype_of(static_cast<ElementType>(call.integer("dtype", 1)));
    if (!wanted) call.refuse("its elements are of a type that tensors cannot have");
    dtype = *wanted;
  }
  const std::int64_t diagonal = call.integer("k", 0);
  const ir::NodeId input = call.tensor(0);
  const ir::NodeId ones = call.emit("aten::full", {{"size", ir::Value::list(sizes_of(call, input))},
                                                   {"fill_value", 1},
                                                   {"dtype", number_of(dtype)}});
  const ir::NodeId upper = call.emit("aten::triu", {{"self", ref(ones)}, {"diagonal", diagonal}});
  call.result(call.emit("aten::tril", {{"self", ref(upper)}, {"diagonal", diagonal}}));
}

/// 1 at the index along the axis, 0 elsewhere, with these two values in their places. An index that
/// is outside of the depth gives only zeros.
void one_hot(Call& call) {
  const std::int64_t rank = call.rank(0), axis = call.axis(call.integer("axis", -1), rank + 1);
  const HostTensor depth = call.host(1);
  if (depth.items.size() != 1) call.wrong("its depth is not one number");
  const auto size = cast_item(depth.items[0], depth.dtype, DType::int64);
  if (!size) call.refuse("its depth is not an integer");
  const ir::NodeId indices =
      call.emit("aten::unsqueeze",
                {{"self", ref(converted(call, call.tensor(0), DType::int64))}, {"dim", axis}});
  std::vector<ir::Value> sizes(static_cast<std::size_t>(rank + 1), 1);
  sizes[static_cast<std::size_t>(axis)] = -1;
  const ir::NodeId places = reshaped(
      call, call.emit("aten::arange", {{"end", *size}, {"dtype", number_of(DType::int64)}}), sizes);
  const auto at = [&](ir::NodeId index) { return combined(call, "aten::eq", index, ref(places)); };
  const ir::NodeId mask = call.emit(
      "aten::logical_or", {{"self", ref(at(indices))},
                           {"other", ref(at(combined(call, "aten::add", indices, *size)))}});
  const auto value = [&](int i) {
    return ref(call.emit("aten::select.int", {{"self", call.ref(2)}, {"dim", 0}, {"index", i}}));
  };
  const ir::Value off = value(0), on = value(1);
  call.result(
      call.emit("aten::where.self", {{"condition", ref(mask)}, {"self", on}, {"other", off}}));
}

/// A window of weighted cosines: cosines[0] - cosines[1] cos(x) + cosines[2] cos(2x).
Row window(std::string_view op, const std::array<double, 3>& cosines) {
  return {op, 17, [cosines](Call& call) {
            const auto type = static_cast<ElementType>(call.integer("output_datatype", 1));
            const auto sizes = call.integers(0);
            if (sizes.size() != 1 || sizes[0] < 0) call.wrong("its size is not one number");
            if (type != ElementType::float32) call.refuse("it gives elements other than float32");
            const bool periodic = call.integer("periodic", 1) != 0;
            Array values(DType::float32, {sizes[0]});
            const double steps = static_cast<double>(periodic ? sizes[0] : sizes[0] - 1);
            double place = 0;
            for (float& value : values.mutable_span<float>()) {
              const double turn = 2 * std::numbers::pi * place / steps;
              value = static_cast<float>(cosines[0] - cosines[1] * std::cos(turn) +
                                         cosines[2] * std::cos(2 * turn));
              place += 1;
            }
            call.result(Operand{.constant = Constant{values, "_tensor_constant", {}, false}});
          }};
}

}  // namespace

std::vector<Row> creation_rows() {
  return {
      {"Range", 11, range, host_range},
      {"ConstantOfShape", 9, constant_of_shape, host_constant_of_shape},
      {"Size", 1, element_count, host_size},
      {"EyeLike", 9, eye_like},
      {"OneHot", 9, one_hot},
      window("HannWindow", {0.5, 0.5, 0}),
      window("HammingWindow", {25.0 / 46.0, 21.0 / 46.0, 0}),
      window("BlackmanWindow", {0.42, 0.5, 0.08}),
  };
}

}  // namespace mase::onnx
