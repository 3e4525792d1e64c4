// SPDX-License-Identifier: Apache-2.0
// Rows of pools. Where ATen's pool cannot say the windows, the input is padded first, and means are
// quotients of two sums: of the elements, and of ones in their places.
#include <algorithm>
#include <limits>

#include "onnx/import/importer.hpp"
#include "onnx/import/quantizer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"
#include "onnx/import/windows.hpp"

namespace mase::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::int64_t space_of(Call& call) {
  const std::int64_t space = call.rank(0) - 2;
  if (space < 1 || space > 3)
    call.refuse("pools over " + std::to_string(space) + " dimensions have no counterpart");
  return space;
}

Windows pool_windows(Call& call) {
  Windows windows(call, call.integers("kernel_shape").value_or(std::vector<std::int64_t>{}));
  windows.fit_pool(call);
  return windows;
}

std::string over(std::string_view aten, std::int64_t space) {
  return std::string(aten) + std::to_string(space) + "d";
}

std::vector<ir::Argument> maximum_arguments(const Windows& windows, ir::NodeId input) {
  return {{"self", ref(input)},
          {"kernel_size", list_of(windows.kernel)},
          {"stride", list_of(windows.stride)},
          {"padding", list_of(windows.padding)},
          {"dilation", list_of(windows.dilation)},
          {"ceil_mode", windows.ceil_mode}};
}

/// Places in one image as places in the whole tensor, in row-major order or, with `by_columns`,
/// column after column.
ir::NodeId whole_places(Call& call, ir::NodeId places, bool by_columns) {
  const ir::NodeId input = call.tensor(0);
  const std::int64_t count = fixed_size(call, input, 0) * fixed_size(call, input, 1);
  std::int64_t image = 1;
  const std::int64_t rank = call.rank(0);
  for (std::int64_t dim = 2; dim < rank; ++dim) image *= fixed_size(call, input, dim);
  if (by_columns && rank == 4) {
    const std::int64_t height = fixed_size(call, input, 2), width = fixed_size(call, input, 3);
    const ir::NodeId column = combined(call, "aten::remainder", places, width);
    const ir::NodeId row =
        call.emit("aten::div.Scalar_mode",
                  {{"self", ref(places)}, {"other", width}, {"rounding_mode", "floor"}});
    places = combined(call, "aten::add", combined(call, "aten::mul", column, height), ref(row));
  }
  std::vector<ir::Value> sizes{call.size(input, 0), call.size(input, 1)};
  sizes.resize(static_cast<std::size_t>(rank), 1);
  std::vector<std::int64_t> first(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) first[static_cast<std::size_t>(i)] = i * image;
  const ir::NodeId offsets =
      reshaped(call, constant_node(call, Array::from(first, {count})), std::move(sizes));
  return combined(call, "aten::add", places, ref(offsets));
}

void max_pool(Call& call) {
  const std::int64_t space = space_of(call);
  const Windows windows = pool_windows(call);
  const bool places = call.wants(1);
  if (places && !windows.before.empty())
    call.refuse("the places of its maxima are asked for, with padding that ATen's pool lacks");
  const DType dtype = call.dtype(0);
  if (!is_floating(dtype) && !windows.before.empty())
    call.refuse("its padding is not the same on both sides, and its elements are integers");
  ir::NodeId input = windows.padded(call, call.tensor(0), -infinity);
  if (!is_floating(dtype)) input = converted(call, input, DType::float32);
  if (!places)
    return call.result(converted(
        call,
        call.layer(over("aten::max_pool", space), maximum_arguments(windows, input), TensorPaths{}),
        dtype));
  if (space != 2) call.refuse("the places of its maxima are asked for");
  const ir::NodeId both =
      call.emit("aten::max_pool2d_with_indices", maximum_arguments(windows, input));
  call.result(converted(call, item_of(call, both, 0), dtype));
  call.result(whole_places(call, item_of(call, both, 1), call.integer("storage_order", 0) != 0), 1);
}

/// The sum over each window, by a convolution of each channel with ones.
ir::NodeId window_sums(Call& call, const Windows& windows, ir::NodeId input) {
  const std::int64_t channels = fixed_size(call, input, 1);
  Shape shape{channels, 1};
  shape.insert(shape.end(), windows.kernel.begin(), windows.kernel.end());
  Array ones(DType::float32, shape);
  std::ranges::fill(ones.mutable_span<float>(), 1.0F);
  const auto space = static_cast<std::int64_t>(windows.kernel.size());
  return call.emit(over("aten::conv", space), {{"input", ref(input)},
                                               {"weight", ref(constant_node(call, ones))},
                                               {"stride", list_of(windows.stride)},
                                               {"padding", list_of(windows.padding)},
                                               {"dilation", list_of(windows.dilation)},
                                               {"groups", channels}});
}

bool is_plain(const Windows& windows) {
  return windows.before.empty() &&
         std::ranges::all_of(windows.dilation, [](std::int64_t step) { return step == 1; });
}

ir::NodeId plain_mean(Call& call, const Windows& windows, bool counts_padding) {
  return call.layer(over("aten::avg_pool", static_cast<std::int64_t>(windows.kernel.size())),
                    {{"self", call.ref(0)},
                     {"kernel_size", list_of(windows.kernel)},
                     {"stride", list_of(windows.stride)},
                     {"padding", list_of(windows.padding)},
                     {"ceil_mode", windows.ceil_mode},
                     {"count_include_pad", counts_padding}},
                    TensorPaths{});
}

void average_pool(Call& call) {
  space_of(call);
  const bool counts_padding = call.integer("count_include_pad", 0) != 0;
  Windows windows = pool_windows(call);
  if (is_plain(windows)) return call.result(plain_mean(call, windows, counts_padding));
  if (call.dtype(0) != DType::float32) call.refuse("its windows are those of float32 only");
  windows.pad_all(call);
  const ir::NodeId sums = window_sums(call, windows, windows.padded(call, call.tensor(0), 0.0));
  const ir::NodeId counts = window_sums(call, windows, windows.counted(call, counts_padding));
  call.result(combined(call, "aten::div", sums, ref(counts)));
}

/// The p-th root of the sum of p-th powers.
ir::NodeId root(Call& call, ir::NodeId sum, std::int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return applied(call, "aten::sqrt", sum);
  return call.emit("aten::pow.Tensor_Scalar",
                   {{"self", ref(sum)}, {"exponent", 1.0 / static_cast<double>(p)}});
}

ir::NodeId powers(Call& call, std::int64_t p) {
  const ir::NodeId size = applied(call, "aten::abs", call.tensor(0));
  if (p == 1) return size;
  return call.emit("aten::pow.Tensor_Scalar", {{"self", ref(size)}, {"exponent", p}});
}

void lp_pool(Call& call) {
  space_of(call);
  if (call.dtype(0) != DType::float32) call.refuse("its windows are those of float32 only");
  const std::int64_t p = call.integer("p", 2);
  Windows windows = pool_windows(call);
  windows.pad_all(call);
  const ir::NodeId input = windows.padded(call, powers(call, p), 0.0);
  call.result(root(call, window_sums(call, windows, input), p));
}

/// Over all dimensions of space.
std::vector<std::int64_t> space_dims(Call& call) {
  std::vector<std::int64_t> dims;
  for (std::int64_t dim = 2; dim < call.rank(0); ++dim) dims.push_back(dim);
  if (dims.empty()) call.wrong("its operand has no dimensions of space");
  return dims;
}

void global_mean(Call& call) {
  const auto dims = space_dims(call);
  if (dims.size() > 2)
    return call.result(call.emit(
        "aten::mean.dim", {{"self", call.ref(0)}, {"dim", list_of(dims)}, {"keepdim", true}}));
  const std::vector<std::int64_t> ones(dims.size(), 1);
  call.result(call.layer(over("aten::adaptive_avg_pool", static_cast<std::int64_t>(dims.size())),
                         {{"self", call.ref(0)}, {"output_size", list_of(ones)}}, TensorPaths{}));
}

void global_max(Call& call) {
  call.result(
      call.emit("aten::amax",
                {{"self", call.ref(0)}, {"dim", list_of(space_dims(call))}, {"keepdim", true}}));
}

void global_lp(Call& call) {
  const std::int64_t p = call.integer("p", 2);
  const ir::NodeId sum = call.emit(
      "aten::sum.dim_IntList",
      {{"self", ref(powers(call, p))}, {"dim", list_of(space_dims(call))}, {"keepdim", true}});
  call.result(root(call, sum, p));
}

}  // namespace

std::vector<Row> pool_rows() {
  return {
      {"MaxPool", 1, moving(max_pool)},
      {"AveragePool", 1, average_pool},
      {"LpPool", 2, lp_pool},
      {"GlobalAveragePool", 1, global_mean},
      {"GlobalMaxPool", 1, moving(global_max)},
      {"GlobalLpPool", 2, global_lp},
  };
}

}  // namespace mase::onnx
