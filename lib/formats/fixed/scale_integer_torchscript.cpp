// SPDX-License-Identifier: Apache-2.0
// The format `scale_integer` in TorchScript, with the quotient in float64 as in the definition.
#include "base/text.hpp"
#include "formats/fixed/scale_integer.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

// Sets the column `peak`: the rows' largest magnitudes. A column of padding serves empty rows.
std::string peak_torchscript(int rank, Profile profile) {
  std::string text = rank == 0 ? "  rows = x.reshape([1])\n" : "  rows = x\n";
  text += "  sizes = torch.abs(rows)\n";
  if (profile == Profile::exact)
    text += "  sizes = torch.where(torch.isfinite(rows), sizes, torch.zeros_like(sizes))\n";
  return text + "  peak = torch.amax(torch.constant_pad_nd(sizes, [0, 1]), [-1], True)\n";
}

std::string rounded(Rounding rounding, const std::string& v) {
  if (rounding == Rounding::floor) return "torch.floor(" + v + ")";
  if (rounding == Rounding::nearest_even) return "torch.round(" + v + ", decimals=0)";
  return "torch.floor(torch.abs(" + v + ") + 0.5) * torch.sign(" + v + ")";
}

std::string clamped(const ScaleIntegerSpec& spec, const std::string& v) {
  return "torch.clamp(" + v + ", " + double_text(spec.low()) + ", " + double_text(spec.high()) +
         ")";
}

std::string reference_text(const ScaleIntegerSpec& spec, const std::string& peak) {
  const auto high = static_cast<float>(spec.high());
  return peak + "  scale = torch.full_like(peak, " + double_text(high + 1.0F) + ") / (peak + " +
         double_text(1e-9F) + ")\n" + "  code = torch.clamp(" +
         rounded(Rounding::nearest_even, "(rows * scale)") + ", " + double_text(spec.low()) + ", " +
         double_text(high) + ")\n" + "  return (code / scale).reshape_as(x)\n";
}

std::string steps_of_rows(const ScaleIntegerSpec& spec) {
  return "  step = peak.to(torch.float64)\n  step = " + script_quotient("step", spec.high()) +
         ".to(torch.float32)\n" + "  step = torch.clamp(step, min=" + double_text(0x1p-149) +
         ", max=" + double_text(spec.largest_step()) + ")\n" +
         "  step = torch.where(torch.eq(peak, 0.0), torch.ones_like(step), step)\n" +
         "  step = step.to(torch.float64)\n";
}

}  // namespace

// Sets `step`, which stretches to `rows`.
std::string ScaleInteger::given_steps(int rank) const {
  std::vector<std::string> steps, sizes(static_cast<std::size_t>(std::max(rank, 1)), "1");
  for (const double step : channel_step) steps.push_back(double_text(step));
  if (channel_step.size() > 1) sizes[0] = "-1";
  return "  rows = x\n  step = torch.tensor([" + join(steps, ", ") +
         "], dtype=torch.float64, device=x.device).reshape([" + join(sizes, ", ") + "])\n";
}

std::string ScaleInteger::torchscript(int rank) const {
  const ScaleIntegerSpec integer = spec();
  refuse_stochastic_script(integer.rounding);
  std::string text =
      channel_step.empty() ? peak_torchscript(rank, integer.profile) : given_steps(rank);
  if (integer.profile == Profile::reference) return reference_text(integer, text);
  if (channel_step.empty()) text += steps_of_rows(integer);
  text += "  quotient = rows.to(torch.float64) / step\n";
  text += "  code = " + clamped(integer, rounded(integer.rounding, "quotient")) + "\n";
  text += "  values = (code * step).to(torch.float32)\n";
  return text + "  return torch.masked_fill(values, torch.eq(code, 0.0), 0.0).reshape_as(x)\n";
}

}  // namespace mase::formats
