// TorchScript bodies that compute the microscaling formats with stock operators, bit for bit.
//
// Profile exact computes in float64, where scaling is exact and only the rounding rounds; powers of
// two are built from exponent bits. Profile mase repeats the reference system's float32 operations,
// with exponents from thresholds instead of logarithms.
#include <cmath>

#include "base/text.hpp"
#include "formats/mase_log2.hpp"
#include "formats/mx_script.hpp"
#include "formats/mx_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

constexpr int double_bias = 1023;

std::string call(std::string_view name, const std::vector<std::string>& arguments) {
  return "torch." + std::string(name) + "(" + join(arguments, ", ") + ")";
}

// 2^exponent in float64, `exponent` being an int64 tensor that the bias was added to.
std::string power(const std::string& exponent) {
  return call("bitwise_left_shift", {exponent, "52"}) + ".view(dtype=torch.float64)";
}

// What carries into the exponent's field of P where the rule rounds up.
std::int64_t carry(const MxSpec& spec) {
  if (spec.rule == ScaleRule::floor) return 0;
  if (spec.rule == ScaleRule::even) return std::int64_t{1} << (51 - spec.top().mantissa_bits);
  return (std::int64_t{1} << 52) - 1;
}

// Sets `e`, the blocks' exponents with the bias of float64.
std::string exponent_lines(const MxSpec& spec) {
  const bool quotient = spec.rule == ScaleRule::rceil;
  const std::string p =
      quotient
          ? call("div", {"p", double_text(spec.top().largest)}) + ".to(torch.float32).to(torch.float64)"
          : "p";
  const int emax = quotient ? 0 : spec.top().exponent;
  return "  e = " +
         call("bitwise_right_shift",
              {call("add", {p + ".view(dtype=torch.int64)", std::to_string(carry(spec))}), "52"}) +
         "\n  e = " +
         call("clamp", {call("sub", {"e", std::to_string(emax)}),
                        std::to_string(spec.lowest_exponent() + double_bias),
                        std::to_string(spec.highest_exponent() + double_bias)}) +
         "\n";
}

std::string exact_elements(const MxSpec& spec) {
  if (spec.minifloat) return minifloat_lines(*spec.minifloat);
  const std::string unit = double_text(std::ldexp(1.0, spec.fraction_bits()));
  const std::string limit = double_text(spec.limit());
  const std::string rounded = rounded_script(spec.rounding, call("mul", {"y", unit}));
  return "  v = " + call("div", {call("clamp", {rounded, "-" + limit, limit}), unit}) +
         "\n  v = " + call("masked_fill", {"v", call("eq", {"v", "0.0"}), "0.0"}) + "\n";
}

std::string exact_body(const MxSpec& spec, const BlockScript& blocks) {
  std::string text = blocks.lines + "  d = tiles.to(torch.float64)\n  p = torch.abs(d)\n";
  if (!spec.has_nan())
    text += "  p = torch.where(torch.isfinite(p), p, torch.zeros_like(p))\n";
  text += "  p = torch.amax(p, " + blocks.dimensions + ", True)\n" + exponent_lines(spec) +
          "  up = " + power("e") + "\n  y = " +
          call("mul", {"d", power(call("rsub", {"e", std::to_string(2 * double_bias)}))}) + "\n" +
          exact_elements(spec) + "  q = torch.mul(v, up).to(torch.float32)\n";
  if (spec.has_nan())
    text += "  q = torch.masked_fill(q, torch.logical_not(torch.isfinite(p)), float(\"nan\"))\n";
  return text + blocks.result;
}

// Sets `e`: round(RN32(log2 p)) clamped to [low, high], less low.
std::string log2_lines(float (*round)(float), int low, int high) {
  std::vector<std::string> thresholds;
  for (const float threshold : mase_log2_thresholds(round, low, high))
    thresholds.push_back(script_number(static_cast<double>(threshold)));
  return "  e = torch.bucketize(p, torch.tensor([" + join(thresholds, ", ") +
         "], dtype=torch.float32, device=x.device), right=True)\n";
}

float floor_of(float v) { return std::floor(v); }
float ceil_of(float v) { return std::ceil(v); }

// 2^(e + offset) in float32: 0 or infinity beyond its range.
std::string mase_power(const std::string& e, int offset) {
  return power(call("add", {e, std::to_string(offset + double_bias)})) + ".to(torch.float32)";
}

std::string mase_integers(const MxSpec& spec, const std::string& code) {
  const double high = std::ldexp(1.0, spec.width - 1);
  return call("clamp", {code, double_text(-high), double_text(high - 1.0)});
}

std::string mase_tiles(const MxSpec& spec) {
  return log2_lines(ceil_of, 0, static_cast<int>(spec.nan_code())) + "  up = " +
         mase_power("e", -spec.bias()) + "\n  q = " +
         call("mul", {"up", mase_integers(spec, "torch.floor(torch.div(tiles, up))")}) +
         "\n  bad = torch.isnan(p)\n";
}

std::string mase_mxint(const MxSpec& spec) {
  constexpr int low = -126, high = 128;
  const std::string unit = double_text(std::ldexp(1.0, spec.width - 1));
  const std::string code =
      call("round", {call("mul", {call("div", {"tiles", "down"}), unit}), "decimals=0"});
  const std::string stored =
      call("clamp", {"e", std::to_string(spec.lowest_exponent() - low),
                     std::to_string(spec.highest_exponent() + 1 - low)});
  return "  bad = torch.logical_not(torch.isfinite(p))\n"
         "  p = torch.clamp(p, " +
         double_text(std::ldexp(1.0, low)) + ")\n" + log2_lines(ceil_of, low, high) + "  down = " +
         mase_power("e", low) + "\n  up = " + mase_power(stored, low) + "\n  q = " +
         call("mul", {call("div", {mase_integers(spec, code), unit}), "up"}) + "\n";
}

std::string flushed(const std::string& v) {
  return call("masked_fill",
              {v, "torch.lt(torch.abs(" + v + "), " + double_text(0x1p-126) + ")", "0.0"});
}

// The bits of codes, then their values: see mase_mx_minifloat.
std::string mase_codes(const MinifloatSpec& element) {
  const int fr = element.mantissa_bits();
  const int top = (1 << element.exponent_width) - 1;
  const std::string hidden = std::to_string(1 << fr), mask = std::to_string((1 << fr) - 1);
  const std::string shift = std::to_string(fr);
  return "  y = torch.div(tiles, up)\n  y = " + flushed("y") +
         "\n"
         "  u = torch.bitwise_and(y.view(dtype=torch.int32), 2147483647)\n"
         "  c = torch.sub(torch.bitwise_right_shift(u, 23), " +
         std::to_string(127 - element.exponent_bias) +
         ")\n"
         "  k = torch.bitwise_right_shift(torch.bitwise_and(u, 8388607), 8).to(torch.float32)\n"
         "  k = torch.round(torch.mul(k, " +
         double_text(std::ldexp(1.0, fr - 15)) +
         "), decimals=0).to(torch.int32)\n"
         "  halved = torch.bitwise_right_shift(torch.bitwise_or(k, " +
         hidden +
         "), 1)\n"
         "  k = torch.where(torch.logical_and(torch.eq(c, 0), torch.ne(k, 0)), halved, k)\n"
         "  over = torch.gt(c, " +
         std::to_string(top) +
         ")\n"
         "  none = torch.logical_or(torch.lt(c, 0), torch.eq(y, 0.0))\n"
         "  c = torch.masked_fill(torch.masked_fill(c, over, " +
         std::to_string(top) +
         "), none, 0)\n"
         "  k = torch.masked_fill(torch.masked_fill(k, over, " +
         mask +
         "), none, 0)\n"
         "  c = torch.bitwise_or(torch.bitwise_left_shift(c, " +
         shift +
         "), k)\n"
         "  k = torch.bitwise_and(c, " +
         mask +
         ")\n"
         "  c = torch.bitwise_right_shift(c, " +
         shift +
         ")\n"
         "  k = torch.where(torch.gt(c, 0), torch.add(k, " +
         hidden +
         "), k).to(torch.float32)\n"
         "  c = torch.add(torch.clamp(c, 1), " +
         std::to_string(127 - element.exponent_bias - fr) +
         ")\n"
         "  v = torch.mul(k, torch.bitwise_left_shift(c, 23).view(dtype=torch.float32))\n"
         "  v = torch.where(torch.lt(y, 0.0), torch.neg(v), v)\n";
}

std::string mase_mxfp(const MxSpec& spec) {
  const MinifloatSpec& element = *spec.minifloat;
  const int emax = (1 << element.exponent_width) - 1 - element.exponent_bias;
  constexpr int low = -127, high = 128;
  return "  bad = torch.logical_not(torch.isfinite(p))\n" +
         log2_lines(floor_of, low + emax, high + emax) + "  up = " + mase_power("e", low) + "\n" +
         mase_codes(element) + "  q = torch.mul(v, up)\n";
}

std::string mase_body(const MxSpec& spec, const BlockScript& blocks) {
  std::string text = blocks.lines;
  if (spec.minifloat) text += "  tiles = " + flushed("tiles") + "\n";
  text += "  p = torch.amax(torch.abs(tiles), " + blocks.dimensions + ", True)\n";
  if (spec.minifloat)
    text += mase_mxfp(spec);
  else
    text += spec.scale == MxScale::offset ? mase_tiles(spec) : mase_mxint(spec);
  return text + "  q = torch.masked_fill(q, bad, float(\"nan\"))\n" + blocks.result;
}

std::string body(const MxSpec& spec, const BlockScript& blocks) {
  refuse_stochastic_script(spec.rounding);
  return spec.profile == Profile::mase ? mase_body(spec, blocks) : exact_body(spec, blocks);
}

}  // namespace

std::string mx_torchscript(const MxSpec& spec, std::int64_t block_size, int block_dim, int rank) {
  return body(spec, spec.profile == Profile::mase ? run_script(block_size, block_dim, rank)
                                                  : line_script(block_size, block_dim, rank));
}

std::string mx_tiles_torchscript(const MxSpec& spec, std::span<const int> parallelism, int rank) {
  return body(spec, tile_script(parallelism, rank));
}

}  // namespace mase::formats
