// SPDX-License-Identifier: Apache-2.0
// Rows of reductions along axes, and of running sums and products.
#include <algorithm>

#include "onnx/import/host.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"
#include "onnx/import/written_out.hpp"

namespace mase::onnx {
namespace {

/// What a reduction does: to the elements before, along the axes, and to the results after.
struct Reduction {
  std::string_view op;
  std::string_view before;  ///< of elements; "" for nothing
  std::string_view along;   ///< with `dim` and `keepdim`
  std::string_view after;
  bool sums = false;    ///< it widens integers unless it is given their dtype
  bool rounds = false;  ///< it takes reals only; integers go through them
};

constexpr Reduction reductions[] = {
    {"ReduceSum", "", "aten::sum.dim_IntList", "", true},
    {"ReduceMean", "", "aten::mean.dim", "", false, true},
    {"ReduceMax", "", "aten::amax", ""},
    {"ReduceMin", "", "aten::amin", ""},
    {"ReduceProd", "", "aten::prod.dim_int", "", true},
    {"ReduceL1", "aten::abs", "aten::sum.dim_IntList", "", true},
    {"ReduceL2", "aten::square", "aten::sum.dim_IntList", "aten::sqrt", true, true},
    {"ReduceSumSquare", "aten::square", "aten::sum.dim_IntList", "", true},
    {"ReduceLogSum", "", "aten::sum.dim_IntList", "aten::log", true, true},
    {"ReduceLogSumExp", "", "aten::logsumexp", "", false, true},
};

std::vector<std::int64_t> axes_of(Call& call, std::int64_t rank) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < rank; ++i) all.push_back(i);
  auto axes = call.axes(1, rank);
  if (!axes || axes->empty())
    return call.integer("noop_with_empty_axes", 0) != 0 ? std::vector<std::int64_t>{} : all;
  std::ranges::sort(*axes);
  return *axes;
}

void check_not_empty(Call& call, const Reduction& reduction, const Shape& shape,
                     const std::vector<std::int64_t>& axes) {
  const bool extreme = reduction.along == "aten::amax" || reduction.along == "aten::amin";
  for (const std::int64_t axis : axes)
    if (extreme && shape[static_cast<std::size_t>(axis)] == 0)
      call.refuse("it reduces a dimension of no elements");
}

ir::NodeId along(Call& call, const Reduction& reduction, ir::NodeId node, const ir::Value& dims,
                 bool keeps) {
  std::vector<ir::Argument> args{{"self", ref(node)}, {"dim", dims}, {"keepdim", keeps}};
  const DType dtype = call.info(node).dtype;
  if (reduction.sums && !is_floating(dtype)) args.push_back({"dtype", number_of(dtype)});
  return call.emit(reduction.along, std::move(args));
}

/// Products go along one dimension at a time, from the last one.
ir::NodeId reduced(Call& call, const Reduction& reduction, ir::NodeId node,
                   const std::vector<std::int64_t>& axes) {
  const bool keeps = call.integer("keepdims", 1) != 0;
  if (axes.empty()) return node;
  if (reduction.along != "aten::prod.dim_int")
    return along(call, reduction, node, list_of(axes), keeps);
  for (std::size_t i = axes.size(); i-- > 0;) node = along(call, reduction, node, axes[i], keeps);
  return node;
}

void reduce(Call& call, const Reduction& reduction) {
  if (reduction.op == "ReduceMean" && pool_of_mean(call)) return;
  const DType dtype = call.dtype(0);
  const std::vector<std::int64_t> axes = axes_of(call, call.rank(0));
  check_not_empty(call, reduction, call.shape(0), axes);
  ir::NodeId node = call.tensor(0);
  if (reduction.rounds && !is_floating(dtype)) node = converted(call, node, DType::float32);
  if (!reduction.before.empty()) node = applied(call, reduction.before, node);
  const bool exponents = axes.empty() && reduction.along == "aten::logsumexp";
  if (!exponents) node = reduced(call, reduction, node, axes);
  if (!reduction.after.empty()) node = applied(call, reduction.after, node);
  call.result(converted(call, node, dtype));
}

HostFunction host_of_reduction(std::string_view op) {
  const bool known =
      op == "ReduceProd" || op == "ReduceSum" || op == "ReduceMax" || op == "ReduceMin";
  return known ? host_reduction(op) : HostFunction{};
}

/// A running result. `exclusive` leaves an element's own value out, `reverse` begins at the end.
Row running(std::string_view op, std::string_view aten, double first, std::int64_t since) {
  return {op, since, [aten, first](Call& call) {
            const auto axis = call.integers(1);
            if (axis.size() != 1) call.wrong("its axis is not one number");
            const std::int64_t rank = call.rank(0), dim = call.axis(axis[0], rank);
            const DType dtype = call.dtype(0);
            const bool backwards = call.integer("reverse", 0) != 0;
            const auto turned = [&](ir::NodeId node) {
              return backwards
                         ? call.emit("aten::flip", {{"self", ref(node)}, {"dims", list_of({dim})}})
                         : node;
            };
            std::vector<ir::Argument> args{{"self", ref(turned(call.tensor(0)))}, {"dim", dim}};
            if (!is_floating(dtype)) args.push_back({"dtype", number_of(dtype)});
            ir::NodeId result = call.emit(aten, std::move(args));
            if (call.integer("exclusive", 0) != 0) {
              std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * (rank - dim)), 0);
              pads[pads.size() - 2] = 1;
              pads[pads.size() - 1] = -1;
              result = call.emit("aten::pad", {{"self", ref(result)},
                                               {"pad", list_of(pads)},
                                               {"mode", "constant"},
                                               {"value", first}});
            }
            call.result(turned(result));
          }};
}

}  // namespace

std::vector<Row> reduction_rows() {
  std::vector<Row> rows;
  for (const Reduction& reduction : reductions)
    rows.push_back({reduction.op, 1, [&reduction](Call& call) { reduce(call, reduction); },
                    host_of_reduction(reduction.op)});
  rows.push_back(running("CumSum", "aten::cumsum", 0.0, 11));
  rows.push_back(running("CumProd", "aten::cumprod", 1.0, 26));
  return rows;
}

}  // namespace mase::onnx
