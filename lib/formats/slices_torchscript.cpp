// SPDX-License-Identifier: Apache-2.0
// TorchScript text of slices and of their means.
//
// cumsum adds one by one in float64, so its last entry is a lane's sum. There is always at least
// one element of padding, also for rows without elements.
#include "formats/slices_torchscript.hpp"

namespace mase::formats {

std::string slices_torchscript(int rank) {
  const std::string rows = rank < 2 ? "x.reshape([1, x.numel()])" : "x.flatten(1)";
  return "  rows = " + rows + "\n  sizes = torch.abs(rows).to(torch.float64)\n";
}

std::string mean_torchscript(const std::string& name, const std::string& chosen, Profile profile) {
  const std::string sum = name + "_sum", count = name + "_count";
  std::string text = "  " + name + "_mask = " + chosen + "\n";
  text += "  " + sum + " = torch.where(" + name + "_mask, sizes, torch.zeros_like(sizes))\n";
  text +=
      "  " + sum + " = torch.constant_pad_nd(" + sum + ", [0, 16 - " + sum + ".size(1) % 16])\n";
  text +=
      "  " + sum + " = " + sum + ".reshape([" + sum + ".size(0), " + sum + ".size(1) // 16, 16])\n";
  text += "  " + sum + " = torch.cumsum(" + sum + ", 1)[:, -1]\n";
  for (const char* half : {"8", "4", "2", "1"})
    text += "  " + sum + " = " + sum + "[:, :" + half + "] + " + sum + "[:, " + half + ":]\n";
  text += "  " + count + " = torch.sum(" + name + "_mask, [1], True)\n";
  const std::string divisor =
      profile == Profile::exact ? "torch.clamp(" + count + ", min=1)" : count;
  return text + "  " + name + " = " + sum + " / " + divisor + "\n";
}

std::string return_torchscript(const std::string& values, const std::string& in, bool keeps_nan) {
  std::string text = "  values = " + values + "\n";
  text += "  values = torch.masked_fill(values, torch.eq(values, 0.0), 0.0)\n";
  if (keeps_nan) text += "  values = torch.where(torch.isnan(" + in + "), " + in + ", values)\n";
  return text + "  return values.reshape_as(x)\n";
}

}  // namespace mase::formats
