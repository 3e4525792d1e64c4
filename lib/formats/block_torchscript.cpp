// The text around the arithmetic of block formats in TorchScript.
#include "formats/block_torchscript.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/mase_log2.hpp"

namespace mase::formats {
namespace {

constexpr std::int64_t double_unit = std::int64_t{1} << 52;  ///< bits of one exponent step

std::string number(std::int64_t value) { return std::to_string(value); }
std::string size_of_dimension(int d) { return "v.size(" + number(d) + ")"; }

// x with leading dimensions merged.
std::string merged_text(const BlockFields& fields, int rank) {
  const int merged = fields.merged_rank(rank);
  if (rank == merged) return "x";
  std::string first;
  const int folded = rank == 0 ? 0 : rank - merged + 1;
  for (int d = 0; d < folded; ++d) first += (d ? " * x.size(" : "x.size(") + number(d) + ")";
  std::vector<std::string> sizes{rank == 0 ? "1" : first};
  for (int d = folded; d < rank; ++d) sizes.push_back("x.size(" + number(d) + ")");
  return "torch.reshape(x, [" + join(sizes, ", ") + "])";
}

// Elements of a tile along dimension d, as block_tiling has them.
std::string tile_text(const BlockFields& fields, bool default_skip, int merged, int d) {
  if (d == 0 && merged >= 2 && fields.skip_first_dim.value_or(default_skip)) return "1";
  const std::string whole = "max(1, " + size_of_dimension(d) + ")";
  const auto given = static_cast<int>(fields.block_size.size());
  const int from_end = merged - d;
  if (from_end > given) return whole;
  const std::int64_t wanted = fields.block_size[static_cast<std::size_t>(given - from_end)];
  return wanted < 1 ? whole : "min(" + number(wanted) + ", " + whole + ")";
}

// "a0, b0, a1, b1" for two names.
std::string interleaved(const std::string& a, const std::string& b, int count) {
  std::vector<std::string> parts;
  for (int d = 0; d < count; ++d) {
    parts.push_back(a + number(d));
    parts.push_back(b + number(d));
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
    const std::string size = size_of_dimension(d), i = number(d);
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
  for (int d = 0; d < fields.merged_rank(rank); ++d) dimensions.push_back(number(2 * d + 1));
  std::string text = line_text("a = torch.abs(b)");
  const bool exact = fields.profile_value() == Profile::exact;
  if (exact)
    text += line_text("a = torch.where(torch.le(a, " + double_text(0x1.fffffep127) +
                      "), a, torch.zeros_like(a))");
  text += line_text("p = torch.amax(a, [" + join(dimensions, ", ") + "], True)");
  if (exact) return text;
  // The smallest peak that is not zero, NaN if there is one, takes the place of zeros.
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
  for (int d = 0; d < merged; ++d) sizes.push_back("n" + number(d) + " * t" + number(d));
  std::string text = "torch.reshape(r, [" + join(sizes, ", ") + "])";
  for (int d = 0; d < merged; ++d)
    text = "torch.narrow(" + text + ", " + number(d) + ", 0, " + size_of_dimension(d) + ")";
  return line_text("return torch.reshape(" + text + ", x.size())");
}

std::string exponent_text(const std::string& values) {
  // Without the sign bit.
  return "torch.sub(torch.bitwise_right_shift(torch.abs(" + values +
         ").view(torch.int64), 52), 1023)";
}

std::string power_text(const std::string& exponents) {
  return "torch.mul(torch.add(" + exponents + ", 1023), " + number(double_unit) +
         ").view(torch.float64)";
}

std::string scale_exponents_text(ScaleRule rule, const ElementTop& top, int shift) {
  // Added to a peak's bits, carries into the exponent where the rule takes the next one.
  std::int64_t carry = 0;
  std::string peaks = "p.to(torch.float64)";
  int offset = 1023 + top.exponent - shift;
  if (rule == ScaleRule::even) carry = double_unit >> (top.mantissa_bits + 1);
  if (rule == ScaleRule::ceil || rule == ScaleRule::rceil) carry = double_unit - 1;
  if (rule == ScaleRule::rceil) {
    peaks = "torch.div(" + peaks + ", " + double_text(top.largest) +
            ").to(torch.float32).to(torch.float64)";
    offset -= top.exponent;
  }
  return line_text("e = torch.sub(torch.bitwise_right_shift(torch.add(" + peaks +
                   ".view(torch.int64), " + number(carry) + "), 52), " + number(offset) + ")");
}

std::string rounded_text(Rounding rounding, const std::string& values) {
  if (rounding == Rounding::floor) return "torch.floor(" + values + ")";
  if (rounding == Rounding::nearest_even) return "torch.round(" + values + ", decimals=0)";
  // The largest float64 below 1/2: with it a fraction of 1/2 reaches 1, and no smaller one does.
  return "torch.trunc(torch.add(" + values + ", torch.copysign(torch.full_like(" + values + ", " +
         double_text(0x1.fffffffffffffp-2) + "), " + values + ")))";
}

std::string mase_exponent_text(float (*round)(float), int low, int high,
                               const std::string& values) {
  std::vector<std::string> thresholds;
  for (const float threshold : mase_log2_thresholds(round, low, high))
    thresholds.push_back(std::isinf(threshold) ? "float(\"inf\")"
                                               : double_text(static_cast<double>(threshold)));
  return "torch.add(torch.bucketize(" + values + ", torch.tensor([" + join(thresholds, ", ") +
         "], dtype=torch.float32, device=x.device), right=True), " + number(low) + ")";
}

void refuse_stochastic(Rounding rounding) {
  if (rounding == Rounding::stochastic)
    unsupported_error(
        "stochastic rounding has no TorchScript form that gives the same numbers; "
        "use rounding 'nearest_even', 'floor' or 'nearest_away' to write a checkpoint");
}

}  // namespace mase::formats
