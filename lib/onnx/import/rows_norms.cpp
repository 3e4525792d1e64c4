// SPDX-License-Identifier: Apache-2.0
// Rows of normalizations. Those that ATen does not have are written as several nodes.
#include <numeric>

#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

void batch_norm(Call& call) {
  if (call.integer("training_mode", 0) != 0 || (call.opset() < 14 && call.results() > 1))
    call.refuse("it is in training mode; export the model after eval()");
  if (call.integer("spatial", 1) == 0)
    call.refuse("it has a mean for each place, not each channel");
  call.result(call.layer(
      "aten::batch_norm",
      {{"input", call.ref(0)},
       {"training", false},
       {"momentum", shortest_decimal(1 - call.number("momentum", 0.9))},
       {"eps", call.number("epsilon", 1e-5)},
       {"cudnn_enabled", true}},
      LayerTensors{{"weight", 1}, {"bias", 2}, {"running_mean", 3}, {"running_var", 4}}));
}

void instance_norm(Call& call) {
  call.result(call.layer("aten::instance_norm",
                         {{"input", call.ref(0)},
                          {"use_input_stats", true},
                          {"momentum", 0.1},
                          {"eps", call.number("epsilon", 1e-5)},
                          {"cudnn_enabled", true}},
                         LayerTensors{{"weight", 1}, {"bias", 2}}));
}

/// Before opset 21 the scale and the bias were one number per group.
ir::NodeId scaled_groups(Call& call, ir::NodeId normalized, std::int64_t groups) {
  const auto sizes = sizes_of(call, normalized);
  const ir::NodeId parts = reshaped(call, normalized, {sizes.at(0), groups, ir::Value(-1)});
  const auto column = [&](std::size_t i) {
    return ref(reshaped(call, call.tensor(i), {ir::Value(groups), ir::Value(1)}));
  };
  const ir::NodeId scaled = combined(call, "aten::mul", parts, column(1));
  return reshaped(call, combined(call, "aten::add", scaled, column(2)), sizes);
}

void group_norm(Call& call) {
  const std::int64_t groups = call.integer("num_groups", 1);
  std::vector<ir::Argument> args{{"input", call.ref(0)},
                                 {"num_groups", groups},
                                 {"eps", call.number("epsilon", 1e-5)},
                                 {"cudnn_enabled", true}};
  if (call.opset() >= 21)
    return call.result(
        call.layer("aten::group_norm", std::move(args), LayerTensors{{"weight", 1}, {"bias", 2}}));
  call.result(scaled_groups(call, call.emit("aten::group_norm", std::move(args)), groups));
}

/// The dimensions from the axis on.
std::vector<std::int64_t> last_dims(Call& call) {
  const std::int64_t rank = call.rank(0);
  std::vector<std::int64_t> dims;
  for (std::int64_t dim = call.axis(call.integer("axis", -1), rank); dim < rank; ++dim)
    dims.push_back(dim);
  return dims;
}

std::vector<std::int64_t> last_sizes(Call& call) {
  std::vector<std::int64_t> sizes;
  const ir::NodeId input = call.tensor(0);
  for (const std::int64_t dim : last_dims(call)) sizes.push_back(fixed_size(call, input, dim));
  return sizes;
}

ir::NodeId mean_over(Call& call, ir::NodeId node, const std::vector<std::int64_t>& dims) {
  return call.emit("aten::mean.dim",
                   {{"self", ref(node)}, {"dim", list_of(dims)}, {"keepdim", true}});
}

/// The mean, and one over the deviation, that the file asks for beside the result.
void give_statistics(Call& call) {
  if (!call.wants(1) && !call.wants(2)) return;
  const auto dims = last_dims(call);
  const ir::NodeId mean = mean_over(call, call.tensor(0), dims);
  call.result(mean, 1);
  if (!call.wants(2)) return;
  const ir::NodeId centred = combined(call, "aten::sub", call.tensor(0), ref(mean));
  const ir::NodeId variance = mean_over(call, applied(call, "aten::square", centred), dims);
  const ir::NodeId sum = combined(call, "aten::add", variance, call.number("epsilon", 1e-5));
  call.result(applied(call, "aten::rsqrt", sum), 2);
}

/// The weight and the bias of a norm have the shape that it normalizes; others broadcast to it.
bool fits(Call& call, const Shape& normalized) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (call.has(i) && call.shape(i) != normalized) return false;
  return true;
}

void shaped_norm(Call& call, std::string_view op, std::vector<ir::Argument> settings) {
  const Shape sizes = last_sizes(call);
  settings.insert(settings.begin(), {{"input", call.ref(0)}, {"normalized_shape", list_of(sizes)}});
  if (fits(call, sizes))
    return call.result(
        call.layer(op, std::move(settings), LayerTensors{{"weight", 1}, {"bias", 2}}));
  ir::NodeId result = call.emit(op, std::move(settings));
  result = combined(call, "aten::mul", result, call.ref(1));
  call.result(call.has(2) ? combined(call, "aten::add", result, call.ref(2)) : result);
}

void layer_norm(Call& call) {
  shaped_norm(call, "aten::layer_norm",
              {{"eps", call.number("epsilon", 1e-5)}, {"cudnn_enable", true}});
  give_statistics(call);
}

void rms_norm(Call& call) {
  shaped_norm(call, "aten::rms_norm", {{"eps", call.number("epsilon", 1e-5)}});
}

/// Divided by the norm along an axis, unless that is zero.
void lp_normalization(Call& call) {
  const std::int64_t axis = call.axis(call.integer("axis", -1), call.rank(0));
  const bool absolute = call.integer("p", 2) == 1;
  const ir::NodeId input = call.tensor(0);
  ir::NodeId norm =
      call.emit("aten::sum.dim_IntList",
                {{"self", ref(applied(call, absolute ? "aten::abs" : "aten::square", input))},
                 {"dim", list_of({axis})},
                 {"keepdim", true}});
  if (!absolute) norm = applied(call, "aten::sqrt", norm);
  const ir::NodeId zero = combined(call, "aten::eq", norm, 0);
  const ir::NodeId divisor = call.emit("aten::masked_fill.Scalar",
                                       {{"self", ref(norm)}, {"mask", ref(zero)}, {"value", 1.0}});
  call.result(combined(call, "aten::div", input, ref(divisor)));
}

void mean_variance(Call& call) {
  const auto axes = call.integers("axes").value_or(std::vector<std::int64_t>{0, 2, 3});
  const ir::NodeId mean = mean_over(call, call.tensor(0), axes);
  const ir::NodeId centred = combined(call, "aten::sub", call.tensor(0), ref(mean));
  const ir::NodeId variance = mean_over(call, applied(call, "aten::square", centred), axes);
  constexpr double tiny = 1e-9;
  const ir::NodeId deviation =
      combined(call, "aten::add", applied(call, "aten::sqrt", variance), tiny);
  call.result(combined(call, "aten::div", centred, ref(deviation)));
}

/// Divided by a power of the mean square of neighbouring channels.
void local_response(Call& call) {
  const std::int64_t size = call.integer("size", 1), before = (size - 1) / 2;
  const ir::NodeId input = call.tensor(0);
  const auto sizes = sizes_of(call, input);
  if (sizes.size() < 3) call.wrong("its operand has no dimensions of space");
  const ir::NodeId squares = applied(call, "aten::square", input);
  const ir::NodeId rows = call.emit(
      "aten::unsqueeze",
      {{"self", ref(reshaped(call, squares, {sizes[0], sizes[1], ir::Value(-1)}))}, {"dim", 1}});
  const ir::NodeId padded =
      call.emit("aten::pad", {{"self", ref(rows)},
                              {"pad", list_of({0, 0, before, size - 1 - before})},
                              {"mode", "constant"},
                              {"value", 0.0}});
  const ir::NodeId means = call.emit(
      "aten::avg_pool2d",
      {{"self", ref(padded)}, {"kernel_size", list_of({size, 1})}, {"stride", list_of({1, 1})}});
  const ir::NodeId scaled =
      combined(call, "aten::mul", reshaped(call, means, sizes), call.number("alpha", 0.0001));
  const ir::NodeId base = combined(call, "aten::add", scaled, call.number("bias", 1.0));
  const ir::NodeId divisor = call.emit(
      "aten::pow.Tensor_Scalar", {{"self", ref(base)}, {"exponent", call.number("beta", 0.75)}});
  call.result(combined(call, "aten::div", input, ref(divisor)));
}

}  // namespace

std::vector<Row> norm_rows() {
  return {
      {"BatchNormalization", 7, batch_norm},
      {"InstanceNormalization", 6, instance_norm},
      {"GroupNormalization", 18, group_norm},
      {"LayerNormalization", 17, layer_norm},
      {"RMSNormalization", 23, rms_norm},
      {"LpNormalization", 1, lp_normalization},
      {"MeanVarianceNormalization", 9, mean_variance},
      {"LRN", 1, local_response},
  };
}

}  // namespace mase::onnx
