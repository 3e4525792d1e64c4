// SPDX-License-Identifier: Apache-2.0
// TorchScript bodies that compute the microscaling formats with stock operators, bit for bit.
//
// Profile exact computes in float64, where scaling is exact and only the rounding loses bits.
// Profile reference repeats the reference system's float32 operations, with exponents from
// thresholds instead of logarithms.
#include <cmath>

#include "base/text.hpp"
#include "formats/block/block_torchscript.hpp"
#include "formats/microscaling/mx_script.hpp"
#include "formats/microscaling/mx_spans.hpp"
#include "formats/script.hpp"

namespace mase::formats {
namespace {

std::string call(std::string_view name, const std::vector<std::string>& arguments) {
  return "torch." + std::string(name) + "(" + join(arguments, ", ") + ")";
}

std::string exact_elements(const MxSpec& spec) {
  if (spec.minifloat) return minifloat_lines(*spec.minifloat);
  const std::string unit = double_text(std::ldexp(1.0, spec.fraction_bits()));
  const std::string limit = double_text(spec.limit());
  const std::string rounded = rounded_text(spec.rounding, call("mul", {"y", unit}));
  return "  v = " + call("div", {call("clamp", {rounded, "-" + limit, limit}), unit}) +
         "\n  v = " + call("masked_fill", {"v", call("eq", {"v", "0.0"}), "0.0"}) + "\n";
}

std::string exact_body(const MxSpec& spec, const BlockScript& blocks) {
  std::string text = blocks.lines + line_text("p = torch.abs(tiles)");
  if (!spec.has_nan())
    text += line_text("p = torch.where(torch.isfinite(p), p, torch.zeros_like(p))");
  text += line_text("p = torch.amax(p, " + blocks.dimensions + ", True)") +
          scales_text(spec.rule, spec.top(), 0, spec.lowest_exponent(), spec.highest_exponent(),
                      spec.lowest_exponent()) +
          line_text("y = torch.div(tiles.to(torch.float64), s)") + exact_elements(spec) +
          line_text("q = torch.mul(v, s).to(torch.float32)");
  if (spec.has_nan())
    text +=
        line_text("q = torch.masked_fill(q, torch.logical_not(torch.isfinite(p)), float(\"nan\"))");
  return text + blocks.result;
}

float floor_of(float v) { return std::floor(v); }
float ceil_of(float v) { return std::ceil(v); }

std::string reference_integers(const MxSpec& spec, const std::string& code) {
  const double high = std::ldexp(1.0, spec.width - 1);
  return call("clamp", {code, double_text(-high), double_text(high - 1.0)});
}

std::string log2_line(float (*round)(float), int low, int high) {
  return line_text("e = " + reference_exponent_text(round, low, high, "p"));
}

std::string shifted(const std::string& e, int offset) {
  return call("add", {e, std::to_string(offset)});
}

std::string reference_tiles(const MxSpec& spec) {
  return log2_line(ceil_of, 0, static_cast<int>(spec.nan_code())) +
         line_text("up = " + reference_power_text(shifted("e", -spec.bias()))) +
         line_text("q = " + call("mul", {"up", reference_integers(
                                                   spec, "torch.floor(torch.div(tiles, up))")})) +
         line_text("bad = torch.isnan(p)");
}

std::string reference_mxint(const MxSpec& spec) {
  constexpr int low = -126, high = 128;
  const std::string unit = double_text(std::ldexp(1.0, spec.width - 1));
  const std::string code =
      call("round", {call("mul", {call("div", {"tiles", "down"}), unit}), "decimals=0"});
  const std::string stored = call("clamp", {"e", std::to_string(spec.lowest_exponent()),
                                            std::to_string(spec.highest_exponent() + 1)});
  return line_text("bad = torch.logical_not(torch.isfinite(p))") +
         line_text("p = torch.clamp(p, " + power_text(low) + ")") + log2_line(ceil_of, low, high) +
         line_text("down = " + reference_power_text("e")) +
         line_text("up = " + reference_power_text(stored)) +
         line_text("q = " +
                   call("mul", {call("div", {reference_integers(spec, code), unit}), "up"}));
}

std::string flushed(const std::string& v) {
  return call("masked_fill",
              {v, "torch.lt(torch.abs(" + v + "), " + double_text(0x1p-126) + ")", "0.0"});
}

// Sets `c` and `k`, the fields of a code before they are joined: see reference_mx_minifloat.
std::string reference_fields(const MinifloatSpec& element) {
  const int fr = element.mantissa_bits();
  const std::string top = std::to_string((1 << element.exponent_width) - 1);
  const std::string hidden = std::to_string(1 << fr), mask = std::to_string((1 << fr) - 1);
  return line_text("f, i = torch.frexp(torch.abs(y))") +
         line_text("c = " + shifted("i", element.exponent_bias - 1)) +
         line_text("k = torch.mul(torch.sub(torch.mul(f, 2.0), 1.0), 32768.0)") +
         line_text("k = torch.mul(torch.floor(k), " + power_text(fr - 15) + ")") +
         line_text("k = torch.round(k, decimals=0).to(torch.int32)") +
         line_text("h = torch.bitwise_right_shift(torch.bitwise_or(k, " + hidden + "), 1)") +
         line_text("k = torch.where(torch.logical_and(torch.eq(c, 0), torch.ne(k, 0)), h, k)") +
         line_text("over = torch.gt(c, " + top + ")") +
         line_text("none = torch.logical_or(torch.lt(c, 0), torch.eq(y, 0.0))") +
         line_text("c = torch.masked_fill(torch.masked_fill(c, over, " + top + "), none, 0)") +
         line_text("k = torch.masked_fill(torch.masked_fill(k, over, " + mask + "), none, 0)");
}

// Sets `v`, the value of the code that c and k form.
std::string reference_values(const MinifloatSpec& element) {
  const int fr = element.mantissa_bits();
  const std::string shift = std::to_string(fr), hidden = std::to_string(1 << fr);
  const std::string exponent =
      shifted("torch.clamp(c, 1).to(torch.int64)", -element.exponent_bias - fr);
  return line_text("c = torch.bitwise_or(torch.bitwise_left_shift(c, " + shift + "), k)") +
         line_text("k = torch.bitwise_and(c, " + std::to_string((1 << fr) - 1) + ")") +
         line_text("c = torch.bitwise_right_shift(c, " + shift + ")") +
         line_text("k = torch.where(torch.gt(c, 0), torch.add(k, " + hidden + "), k)") +
         line_text("v = torch.mul(k.to(torch.float32), " + reference_power_text(exponent) + ")") +
         line_text("v = torch.where(torch.lt(y, 0.0), torch.neg(v), v)");
}

std::string reference_mxfp(const MxSpec& spec) {
  const MinifloatSpec& element = *spec.minifloat;
  const int emax = (1 << element.exponent_width) - 1 - element.exponent_bias;
  constexpr int low = -127, high = 128;
  return line_text("bad = torch.logical_not(torch.isfinite(p))") +
         log2_line(floor_of, low + emax, high + emax) +
         line_text("up = " + reference_power_text(shifted("e", -emax))) +
         line_text("y = torch.div(tiles, up)") + line_text("y = " + flushed("y")) +
         reference_fields(element) + reference_values(element) + line_text("q = torch.mul(v, up)");
}

std::string reference_body(const MxSpec& spec, const BlockScript& blocks) {
  std::string text = blocks.lines;
  if (spec.minifloat) text += line_text("tiles = " + flushed("tiles"));
  text += line_text("p = torch.amax(torch.abs(tiles), " + blocks.dimensions + ", True)");
  if (spec.minifloat)
    text += reference_mxfp(spec);
  else
    text += spec.scale == MxScale::offset ? reference_tiles(spec) : reference_mxint(spec);
  return text + line_text("q = torch.masked_fill(q, bad, float(\"nan\"))") + blocks.result;
}

std::string body(const MxSpec& spec, const BlockScript& blocks) {
  refuse_stochastic_script(spec.rounding);
  return spec.profile == Profile::reference ? reference_body(spec, blocks)
                                            : exact_body(spec, blocks);
}

}  // namespace

std::string mx_torchscript(const MxSpec& spec, std::int64_t block_size, int block_dim, int rank) {
  return body(spec, spec.profile == Profile::reference ? run_script(block_size, block_dim, rank)
                                                       : line_script(block_size, block_dim, rank));
}

std::string mx_tiles_torchscript(const MxSpec& spec, std::span<const int> parallelism, int rank) {
  return body(spec, tile_script(parallelism, rank));
}

}  // namespace mase::formats
