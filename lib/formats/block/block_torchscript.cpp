// SPDX-License-Identifier: Apache-2.0
// The TorchScript text around the arithmetic of block formats.
#include "formats/block/block_torchscript.hpp"

#include <cmath>

#include "base/text.hpp"
#include "formats/minifloat/reference_log2.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string size_of_dimension(int d) { return "v.size(" + std::to_string(d) + ")"; }

// x with leading dimensions merged.
std::string merged_text(const BlockFields& fields, int rank) {
  const int merged = fields.merged_rank(rank);
  if (rank == merged) return "x";
  std::string first;
  const int folded = rank == 0 ? 0 : rank - merged + 1;
  for (int d = 0; d < folded; ++d)
    first += (d ? " * x.size(" : "x.size(") + std::to_string(d) + ")";
  std::vector<std::string> sizes{rank == 0 ? "1" : first};
  for (int d = folded; d < rank; ++d) sizes.push_back("x.size(" + std::to_string(d) + ")");
  return "torch.reshape(x, [" + join(sizes, ", ") + "])";
}

// The elements of a tile along dimension d, as in block_tiling.
std::string tile_text(const BlockFields& fields, bool default_skip, int merged, int d) {
  if (d == 0 && merged >= 2 && fields.skip_first_dim.value_or(default_skip)) return "1";
  std::string whole = "max(1, " + size_of_dimension(d) + ")";
  const auto given = static_cast<int>(fields.block_size.size());
  const int from_end = merged - d;
  if (from_end > given) return whole;
  const std::int64_t wanted = fields.block_size[static_cast<std::size_t>(given - from_end)];
  return wanted < 1 ? whole : "min(" + std::to_string(wanted) + ", " + whole + ")";
}

// "a0, b0, a1, b1" for two names.
std::string interleaved(const std::string& a, const std::string& b, int count) {
  std::vector<std::string> parts;
  for (int d = 0; d < count; ++d) {
    parts.push_back(a + std::to_string(d));
    parts.push_back(b + std::to_string(d));
  }
  return join(parts, ", ");
}

}  // namespace

std::string line_text(const std::string& statement) { return "  " + statement + "\n"; }

std::string tiles_text(const BlockFields& fields, bool default_skip, int rank) {
  const int merged = fields.merged_rank(rank);
  std::string text = line_text("v = " + merged_text(fields, rank));
  std::vector<std::string> padding;  // the last dimension comes first
  for (int d = 0; d < merged; ++d) {
    const std::string size = size_of_dimension(d), i = std::to_string(d);
    text += line_text("t" + i + " = " + tile_text(fields, default_skip, merged, d));
    text += line_text("n" + i + " = (" + size + " + t" + i + " - 1) // t" + i);
    const std::string missing = "n" + i + " * t" + i + " - " + size;
    padding.insert(padding.begin(), "0, " + missing);
  }
  return text + line_text("b = torch.reshape(torch.constant_pad_nd(v, [" + join(padding, ", ") +
                          "]), [" + interleaved("n", "t", merged) + "])");
}

std::string peaks_text(const BlockFields& fields, int rank) {
  std::vector<std::string> dimensions;
  for (int d = 0; d < fields.merged_rank(rank); ++d)
    dimensions.push_back(std::to_string(2 * d + 1));
  std::string text = line_text("a = torch.abs(b)");
  const bool exact = fields.profile_value() == Profile::exact;
  if (exact)
    text += line_text("a = torch.where(torch.le(a, " + double_text(0x1.fffffep127) +
                      "), a, torch.zeros_like(a))");
  text += line_text("p = torch.amax(a, [" + join(dimensions, ", ") + "], True)");
  if (exact) return text;
  // The smallest peak other than zero (NaN if there is one) replaces zeros.
  return text +
         line_text("z = torch.where(torch.eq(p, 0.0), torch.full_like(p, float(\"inf\")), p)") +
         line_text(
             "z = torch.amin(torch.cat([torch.reshape(z, [-1]), "
             "torch.full([1], float(\"inf\"), dtype=p.dtype, device=p.device)]))") +
         line_text("z = torch.where(torch.any(torch.ne(p, 0.0)), z, torch.ones_like(z))") +
         line_text("p = torch.where(torch.eq(p, 0.0), z, p)");
}

std::string untiled_text(const BlockFields& fields, int rank) {
  const int merged = fields.merged_rank(rank);
  std::vector<std::string> sizes;
  for (int d = 0; d < merged; ++d)
    sizes.push_back("n" + std::to_string(d) + " * t" + std::to_string(d));
  std::string text = "torch.reshape(r, [" + join(sizes, ", ") + "])";
  for (int d = 0; d < merged; ++d)
    text = "torch.narrow(" + text + ", " + std::to_string(d) + ", 0, " + size_of_dimension(d) + ")";
  return line_text("return torch.reshape(" + text + ", x.size())");
}

std::string power_text(int exponent) { return double_text(std::ldexp(1.0, exponent)); }

std::string significand_text(const std::string& values) {
  return line_text("f, i = torch.frexp(" + values + ")") +
         line_text("w = torch.div(" + values + ", f)");
}

std::string scales_text(ScaleRule rule, const ElementTop& top, int shift, int low, int high,
                        int zero_exponent) {
  // The significand from which on a rule takes the next higher power.
  double limit = 1.0;
  if (rule == ScaleRule::even) limit = 1.0 - std::ldexp(1.0, -top.mantissa_bits - 2);
  if (rule == ScaleRule::ceil || rule == ScaleRule::rceil) limit = 0x1.0000000000001p-1;
  std::string text =
      line_text("s = torch.where(torch.gt(p, 0.0), p, torch.ones_like(p)).to(torch.float64)");
  if (rule == ScaleRule::rceil) {
    text += line_text("s = " + script_quotient("s", top.largest) +
                      ".to(torch.float32).to(torch.float64)");
    text += line_text("s = torch.clamp(s, " + power_text(-149) + ")");  // a quotient of 0 too
  } else {
    shift -= top.exponent;
  }
  return text + significand_text("s") +
         line_text("s = torch.where(torch.ge(f, " + double_text(limit) +
                   "), w, torch.mul(w, 0.5))") +
         line_text("s = torch.clamp(torch.mul(s, " + power_text(shift) + "), " + power_text(low) +
                   ", " + power_text(high) + ")") +
         line_text("s = torch.where(torch.gt(p, 0.0), s, torch.full_like(s, " +
                   power_text(zero_exponent) + "))");
}

std::string rounded_text(Rounding rounding, const std::string& values) {
  if (rounding == Rounding::floor) return "torch.floor(" + values + ")";
  if (rounding == Rounding::nearest_even) return "torch.round(" + values + ", decimals=0)";
  // The largest float64 below 1/2: added to it, 1/2 reaches 1, and no smaller fraction does.
  return "torch.trunc(torch.add(" + values + ", torch.copysign(torch.full_like(" + values + ", " +
         double_text(0x1.fffffffffffffp-2) + "), " + values + ")))";
}

std::string reference_exponent_text(float (*round)(float), int low, int high,
                                    const std::string& values) {
  const std::vector<float> changes = reference_log2_thresholds(round, low, high);
  const std::vector<double> thresholds(changes.begin(), changes.end());
  return "torch.add(torch.bucketize(" + values + ", " + script_tensor(thresholds, "float32") +
         ", right=True), " + std::to_string(low) + ")";
}

std::string reference_power_text(const std::string& exponents) {
  // A table of products of twos, whose ends are 0 and infinity in float32.
  constexpr int low = -160, high = 130;
  const std::string table = "torch.mul(torch.cumprod(torch.full([" +
                            std::to_string(high - low + 1) +
                            "], 2.0, dtype=torch.float64, device=x.device), 0), " +
                            power_text(low - 1) + ").to(torch.float32)";
  return "torch.take(" + table + ", torch.sub(torch.clamp(" + exponents + ", " +
         std::to_string(low) + ", " + std::to_string(high) + "), " + std::to_string(low) + "))";
}

}  // namespace mase::formats
