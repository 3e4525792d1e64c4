// SPDX-License-Identifier: Apache-2.0
// Reads windows; formulas of automatic padding are those of ONNX's documentation of Conv.
#include "onnx/import/windows.hpp"

#include <algorithm>

#include "onnx/import/importer.hpp"

namespace mase::onnx {

Windows::Windows(Call& call, std::vector<std::int64_t> kernel_size)
    : kernel(std::move(kernel_size)), ceil_mode(call.integer("ceil_mode", 0) != 0) {
  const std::size_t spatial = kernel.size();
  if (call.rank(0) != static_cast<std::int64_t>(spatial) + 2)
    call.wrong("its kernel has " + std::to_string(spatial) + " dimensions, but its input is " +
               shape_text(call.shape(0)));
  const auto ones = std::vector<std::int64_t>(spatial, 1);
  stride = call.integers("strides").value_or(ones);
  dilation = call.integers("dilations").value_or(ones);
  if (stride.size() != spatial || dilation.size() != spatial)
    call.wrong("its strides or dilations are not one per dimension");
  read_pads(call);
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
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    // With stride 1 the size does not matter.
    const std::int64_t in = size.value_or(reach);
    const std::int64_t out = (in + stride[i] - 1) / stride[i];
    const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * stride[i] + reach - in);
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
  bool even = true;
  for (std::size_t i = 0; i < spatial; ++i) even = even && pads[i] == pads[i + spatial];
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(spatial);
  if (even) {
    padding.assign(pads.begin(), middle);
    return;
  }
  padding.assign(spatial, 0);
  before.assign(pads.begin(), middle);
  after.assign(middle, pads.end());
}

ir::NodeId Windows::padded(Call& call, double value) const {
  if (before.empty()) return call.tensor(0);
  std::vector<std::int64_t> pads;  // the last dimension comes first
  for (std::size_t i = before.size(); i-- > 0;) {
    pads.push_back(before[i]);
    pads.push_back(after[i]);
  }
  return call.emit(
      "aten::pad",
      {{"self", call.ref(0)}, {"pad", list_of(pads)}, {"mode", "constant"}, {"value", value}});
}

}  // namespace mase::onnx
