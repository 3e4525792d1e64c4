// SPDX-License-Identifier: Apache-2.0
// Reads windows; formulas of automatic padding are those of ONNX's documentation of Conv.
#include "onnx/import/windows.hpp"

#include <algorithm>

#include "onnx/import/importer.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {

std::vector<std::int64_t> window_of(Call& call, const Shape& weight) {
  if (weight.size() < 3) call.wrong("its weight " + shape_text(weight) + " has no window");
  return {weight.begin() + 2, weight.end()};
}

Windows::Windows(Call& call, std::vector<std::int64_t> kernel_size)
    : kernel(std::move(kernel_size)), ceil_mode(call.integer("ceil_mode", 0) != 0) {
  read_steps(call);
  read_pads(call);
}

Windows Windows::without_pads(Call& call, std::vector<std::int64_t> kernel_size) {
  Windows windows;
  windows.kernel = std::move(kernel_size);
  windows.read_steps(call);
  return windows;
}

void Windows::read_steps(Call& call) {
  const std::size_t spatial = kernel.size();
  if (call.rank(0) != static_cast<std::int64_t>(spatial) + 2)
    call.wrong("its kernel has " + std::to_string(spatial) + " dimensions, but its input is " +
               shape_text(call.shape(0)));
  const auto ones = std::vector<std::int64_t>(spatial, 1);
  stride = call.integers("strides").value_or(ones);
  dilation = call.integers("dilations").value_or(ones);
  if (stride.size() != spatial || dilation.size() != spatial)
    call.wrong("its strides or dilations are not one per dimension");
}

/// All pads, those at the beginnings first, so that each result is the place of a stride.
std::vector<std::int64_t> Windows::pads_of_same(Call& call, bool upper) const {
  const ir::NodeId input = call.tensor(0);
  const std::size_t spatial = kernel.size();
  std::vector<std::int64_t> pads(2 * spatial);
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto size = call.importer().worlds().fixed_size(input, i + 2);
    if (!size && stride[i] != 1)
      call.refuse("auto_pad with a stride needs an input whose size does not vary");
    // With stride 1 the size does not matter.
    const std::int64_t in = size.value_or(reach(i));
    const std::int64_t out = (in + stride[i] - 1) / stride[i];
    const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * stride[i] + reach(i) - in);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[i + spatial] = total - pads[i];
  }
  return pads;
}

void Windows::read_pads(Call& call) {
  const std::size_t spatial = kernel.size();
  const std::string automatic = call.text("auto_pad", "NOTSET");
  std::vector<std::int64_t> pads(2 * spatial, 0);
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    pads = pads_of_same(call, automatic == "SAME_UPPER");
  else if (automatic == "NOTSET")
    pads = call.integers("pads").value_or(pads);
  if (pads.size() != 2 * spatial) call.wrong("its pads are not two per dimension");
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(spatial);
  file_before_.assign(pads.begin(), middle);
  file_after_.assign(middle, pads.end());
  padding = file_before_;
  if (file_before_ != file_after_) pad_all(call);
}

std::int64_t Windows::beyond(Call& call, std::size_t dim) const {
  if (!ceil_mode) return 0;
  const std::int64_t in =
      fixed_size(call, call.tensor(0), static_cast<std::int64_t>(dim) + 2) + file_before_[dim];
  const std::int64_t room = in + file_after_[dim] - reach(dim);
  std::int64_t count = (room + stride[dim] - 1) / stride[dim] + 1;
  if ((count - 1) * stride[dim] >= in) --count;  // it would begin behind the input
  return std::max<std::int64_t>(0, (count - 1) * stride[dim] + reach(dim) - in - file_after_[dim]);
}

void Windows::pad_all(Call& call) {
  if (!before.empty()) return;
  before = file_before_;
  after = file_after_;
  for (std::size_t dim = 0; dim < after.size(); ++dim) after[dim] += beyond(call, dim);
  padding.assign(kernel.size(), 0);
  ceil_mode = false;
}

void Windows::fit_pool(Call& call) {
  for (std::size_t dim = 0; dim < kernel.size(); ++dim)
    if (2 * padding[dim] > kernel[dim]) pad_all(call);
}

namespace {

/// The last dimension comes first.
ir::NodeId with_pads(Call& call, ir::NodeId node, const std::vector<std::int64_t>& before,
                     const std::vector<std::int64_t>& after, double value) {
  std::vector<std::int64_t> pads;
  for (std::size_t i = before.size(); i-- > 0;) {
    pads.push_back(before[i]);
    pads.push_back(after[i]);
  }
  if (std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; })) return node;
  return call.emit(
      "aten::pad",
      {{"self", ref(node)}, {"pad", list_of(pads)}, {"mode", "constant"}, {"value", value}});
}

}  // namespace

ir::NodeId Windows::padded(Call& call, ir::NodeId node, double value) const {
  return before.empty() ? node : with_pads(call, node, before, after, value);
}

ir::NodeId Windows::counted(Call& call, bool counts_padding) const {
  const ir::NodeId ones = applied(call, "aten::ones_like", call.tensor(0));
  if (!counts_padding) return padded(call, ones, 0.0);
  std::vector<std::int64_t> rest = after, none(before.size(), 0);
  for (std::size_t dim = 0; dim < rest.size(); ++dim) rest[dim] -= file_after_[dim];
  return with_pads(call, with_pads(call, ones, file_before_, file_after_, 1.0), none, rest, 0.0);
}

}  // namespace mase::onnx
