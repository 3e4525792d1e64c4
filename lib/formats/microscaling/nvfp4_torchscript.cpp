// SPDX-License-Identifier: Apache-2.0
// The TorchScript body of nvfp4. Every float32 operation is done in float64 and rounded to float32,
// which for products, quotients and their roundings gives the same number.
#include "base/text.hpp"
#include "formats/block/block_torchscript.hpp"
#include "formats/microscaling/mx_script.hpp"
#include "formats/microscaling/nvfp4_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string as_float(const std::string& v) { return v + ".to(torch.float32).to(torch.float64)"; }

// Sets `t`, the tensor's scale. An element of padding gives an empty tensor a magnitude.
std::string tensor_scale_lines(const Nvfp4Spec& spec) {
  if (spec.tensor_scale)
    return "  t = torch.full_like(p, " + double_text(static_cast<double>(*spec.tensor_scale)) +
           ")\n";
  return "  m = torch.abs(d)\n"
         "  m = torch.where(torch.isfinite(m), m, torch.zeros_like(m)).reshape([-1])\n"
         "  m = torch.amax(torch.constant_pad_nd(m, [0, 1]))\n"
         "  t = torch.clamp(" +
         as_float(script_quotient("m", 2688.0)) + ", " +
         double_text(static_cast<double>(nvfp4_smallest_scale)) +
         ")\n"
         "  t = torch.masked_fill(t, torch.eq(m, 0.0), 1.0)\n";
}

// Sets `r`, the factor of elements, and `up`, the factor of results.
std::string factor_lines(const Nvfp4Spec& spec) {
  std::string text = "  a = " + as_float(script_quotient("p", 6.0)) + "\n";
  if (spec.two_levels) text += "  a = " + as_float("torch.div(a, t)") + "\n";
  // Rounds to nearest even with 3 fraction bits.
  text += line_text("a = torch.clamp(a, 0.015625, 448.0)") + significand_text("a") +
          line_text("step = torch.mul(w, 0.0625)") +
          line_text("s = torch.mul(torch.round(torch.div(a, step), decimals=0), step)");
  if (!spec.two_levels) return text + "  r = " + as_float("torch.reciprocal(s)") + "\n  up = s\n";
  return text + "  r = " + as_float("torch.reciprocal(t)") +
         "\n  r = " + as_float("torch.div(r, s)") + "\n  up = " + as_float("torch.mul(t, s)") +
         "\n";
}

}  // namespace

std::string nvfp4_torchscript(const Nvfp4Spec& spec, std::int64_t block_size, int block_dim,
                              int rank) {
  refuse_stochastic_script(spec.rounding);
  const BlockScript blocks = line_script(block_size, block_dim, rank);
  std::string text = blocks.lines +
                     "  d = tiles.to(torch.float64)\n"
                     "  p = torch.amax(torch.abs(d), [-1], True)\n";
  if (spec.two_levels) text += tensor_scale_lines(spec);
  text += factor_lines(spec) + "  y = " + as_float("torch.mul(d, r)") + "\n";
  // For `floor`, a negative product that underflows still counts as below 0.
  if (spec.rounding == Rounding::floor)
    text += "  y = torch.masked_fill(y, torch.logical_and(torch.lt(d, 0.0), torch.eq(y, 0.0)), " +
            double_text(-0x1p-126) + ")\n";
  return text + minifloat_lines(nvfp4_element(spec.rounding, spec.seed)) +
         "  q = torch.mul(v, up).to(torch.float32)\n"
         "  q = torch.masked_fill(q, torch.logical_not(torch.isfinite(p)), float(\"nan\"))\n" +
         blocks.result;
}

}  // namespace mase::formats
