// SPDX-License-Identifier: Apache-2.0
// Minifloats over whole tensors.
#include "formats/minifloat/minifloat_spans.hpp"

#include <cmath>

#include "formats/device/device_table.hpp"
#include "formats/drawn_spans.hpp"
#include "formats/encoding.hpp"
#include "formats/minifloat/minifloat_kernel.hpp"
#include "formats/minifloat/reference_kernel.hpp"

namespace mase::formats {
namespace {

using Codes = std::span<std::uint32_t>;

// Results of profile reference may be off the grid; exact ones may be beyond float32.
double coded_value(const MinifloatSpec& spec, float x, std::size_t index) {
  const double source = spec.profile == Profile::reference
                            ? static_cast<double>(quantize_minifloat_scalar(spec, x, index))
                            : static_cast<double>(x);
  return quantize_minifloat_exact(spec, source, index);
}

std::uint32_t define_code(const MinifloatSpec& spec, std::string_view format, float x,
                          std::size_t index) {
  const double value = coded_value(spec, x, index);
  if (std::isnan(value) && spec.specials == Specials::none) refuse_nan(index, format);
  return minifloat_code(spec, value);
}

const kernels::DrawnMinifloatKernel& drawn_kernel(const MinifloatSpec& spec) {
  return kernels::drawn_minifloat_kernels(simd::best_isa())[spec];
}

void quantize_stochastic(const MinifloatSpec& spec, std::span<const float> in,
                         std::span<float> out) {
  const auto& kernel = drawn_kernel(spec);
  const kernels::MinifloatGrid grid = kernels::minifloat_grid(spec);
  quantize_drawn(spec.seed, in, out,
                 [&](const float* from, const float* u, float* to, std::size_t count) {
                   kernel.quantize(grid, from, u, to, count);
                 });
}

PackedCodes encode_stochastic(const MinifloatSpec& spec, std::string_view format,
                              std::span<const float> in) {
  const auto& kernel = drawn_kernel(spec);
  const auto encode = spec.hidden_bit ? kernel.encode_hidden : kernel.encode_no_hidden;
  const kernels::MinifloatGrid grid = kernels::minifloat_grid(spec);
  const kernels::MinifloatCodeGrid codes = kernels::minifloat_code_grid(spec);
  return encode_drawn(spec.width, spec.seed, in, spec.specials == Specials::none ? format : "",
                      [&](const float* from, const float* u, std::uint32_t* to, std::size_t count) {
                        encode(grid, codes, from, u, to, count);
                      });
}

void quantize_as_reference(const MinifloatSpec& spec, std::span<const float> in,
                           std::span<float> out) {
  const auto& kernels = kernels::reference_kernels(simd::best_isa());
  const auto run = spec.hidden_bit ? kernels.hidden : kernels.no_hidden;
  run(kernels::reference_grid(spec), in.data(), out.data(), in.size());
}

/// True when there are kernels of whole spans for the rounding.
bool has_span_kernel(const MinifloatSpec& spec) {
  return spec.rounding != Rounding::stochastic &&
         kernels::minifloat_range(spec) != kernels::MinifloatRange::beyond;
}

}  // namespace

void quantize_minifloat(const MinifloatSpec& spec, std::span<const float> in,
                        std::span<float> out) {
  if (spec.profile == Profile::reference) return quantize_as_reference(spec, in, out);
  if (kernels::can_draw(spec)) return quantize_stochastic(spec, in, out);
  if (!has_span_kernel(spec)) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = quantize_minifloat_scalar(spec, in[i], i);
    return;
  }
  const kernels::MinifloatRange range = kernels::minifloat_range(spec);
  const auto kernel = kernels::minifloat_kernels(simd::best_isa())[spec.rounding][range];
  kernel.quantize(kernels::minifloat_grid(spec), in.data(), out.data(), in.size());
}

DeviceQuantizer minifloat_on_device(const MinifloatSpec& spec) {
  if (!kernels::can_draw(spec) && !has_span_kernel(spec)) return nullptr;
  return [spec](const kernels::DeviceKernels& table, const DeviceSpan& span) {
    const auto kernel = kernels::can_draw(spec)
                            ? table.drawn_minifloat[spec]
                            : table.minifloat[spec.rounding][kernels::minifloat_range(spec)];
    return kernel(kernels::minifloat_grid(spec), spec.seed, span);
  };
}

Encoded encode_minifloat(const MinifloatSpec& spec, std::string_view format,
                         std::span<const float> in) {
  const auto define = [&](std::size_t first, Codes codes) {
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = define_code(spec, format, in[first + i], first + i);
  };
  if (kernels::can_draw(spec) && kernels::can_encode(spec))
    return {encode_stochastic(spec, format, in), {}, {}};
  if (!kernels::can_encode(spec) || !has_span_kernel(spec))
    return {encode_in_pieces(spec.width, in.size(), define), {}, {}};
  const auto kernel =
      kernels::minifloat_kernels(simd::best_isa())[spec.rounding][kernels::minifloat_range(spec)];
  const auto encode = spec.hidden_bit ? kernel.encode_hidden : kernel.encode_no_hidden;
  const kernels::MinifloatGrid grid = kernels::minifloat_grid(spec);
  const kernels::MinifloatCodeGrid code_grid = kernels::minifloat_code_grid(spec);
  const auto make = [&](std::size_t first, Codes codes) {
    const bool has_nan = encode(grid, code_grid, in.data() + first, codes.data(), codes.size());
    if (has_nan && spec.specials == Specials::none) define(first, codes);  // names the element
  };
  return {encode_in_pieces(spec.width, in.size(), make), {}, {}};
}

Decoding minifloat_decoding(const MinifloatSpec& spec) {
  return {.bits = spec.width, .elements = value_table(spec.width, [&](std::uint32_t code) {
                                return static_cast<float>(minifloat_value(spec, code));
                              })};
}

void decode_minifloat(const MinifloatSpec& spec, const Encoded& in, std::span<float> out) {
  check_codes(in.codes, spec.width, out.size());
  decode_by_table(in.codes, out, [&](std::uint32_t code) { return minifloat_value(spec, code); });
}

}  // namespace mase::formats
