// SPDX-License-Identifier: Apache-2.0
// The format `ternary` in TorchScript.
#include "base/text.hpp"
#include "formats/low_bit/ternary.hpp"
#include "formats/slices_torchscript.hpp"

namespace mase::formats {
namespace {

// Statements that make `limit`, in float64: a number, or a column when each slice has a limit.
std::string limit_torchscript(const TernarySpec& spec) {
  if (spec.threshold) return "  limit = " + double_text(*spec.threshold) + "\n";
  const bool exact = spec.profile == Profile::exact;
  const std::string chosen =
      exact ? "torch.isfinite(rows)" : "torch.ones_like(rows, dtype=torch.bool)";
  return mean_torchscript("mean", chosen, spec.profile) + "  limit = mean * 0.75\n" +
         (exact ? "" : "  limit = limit.to(torch.float32).to(torch.float64)\n");
}

}  // namespace

std::string Ternary::torchscript(int rank) const {
  const TernarySpec ternary = spec();
  const bool exact = ternary.profile == Profile::exact;
  std::string text = slices_torchscript(rank) + limit_torchscript(ternary);
  text += "  wide = rows.to(torch.float64)\n";
  text += "  above = (wide > limit).to(torch.float32)\n";
  text += "  below = (-wide > limit).to(torch.float32)\n";
  if (!ternary.scaled) return text + return_torchscript("above - below", "rows", exact);
  const std::string chosen = exact ? "(sizes > limit) & torch.isfinite(rows)" : "sizes > limit";
  return text + mean_torchscript("alpha", chosen, ternary.profile) +
         return_torchscript("(above - below) * alpha.to(torch.float32)", "rows", exact);
}

}  // namespace mase::formats
