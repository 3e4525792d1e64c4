// SPDX-License-Identifier: Apache-2.0
// The format log over whole tensors.
#include "formats/minifloat/log_spans.hpp"

#include <cmath>

#include "formats/device/device_table.hpp"
#include "formats/drawn_spans.hpp"
#include "formats/encoding.hpp"
#include "formats/minifloat/log_kernel.hpp"
#include "formats/minifloat/reference_kernel.hpp"

namespace mase::formats {
namespace {

using Codes = std::span<std::uint32_t>;

// The code does not come from the float32 result, in which different powers may be 0 or infinity.
std::uint32_t define_code(const LogSpec& spec, float x, std::size_t index) {
  if (std::isnan(x)) refuse_nan(index, "log");
  const double value = spec.profile == Profile::reference
                           ? static_cast<double>(quantize_log_scalar(spec, x, index))
                           : quantize_log_exact(spec, static_cast<double>(x), index);
  return log_code(spec, value);
}

void quantize_stochastic(const LogSpec& spec, std::span<const float> in, std::span<float> out) {
  const auto& kernel = kernels::drawn_log_kernel(simd::best_isa());
  const kernels::LogGrid grid = kernels::log_grid(spec);
  quantize_drawn(spec.seed, in, out,
                 [&](const float* from, const float* u, float* to, std::size_t count) {
                   kernel.quantize(grid, from, u, to, count);
                 });
}

PackedCodes encode_stochastic(const LogSpec& spec, std::span<const float> in) {
  const auto& kernel = kernels::drawn_log_kernel(simd::best_isa());
  const kernels::LogGrid grid = kernels::log_grid(spec);
  return encode_drawn(spec.width, spec.seed, in, "log",
                      [&](const float* from, const float* u, std::uint32_t* to, std::size_t count) {
                        kernel.encode(grid, from, u, to, count);
                      });
}

}  // namespace

void quantize_log(const LogSpec& spec, std::span<const float> in, std::span<float> out) {
  if (spec.profile == Profile::reference) {
    const auto run = kernels::reference_kernels(simd::best_isa()).log;
    run(kernels::reference_grid(spec), in.data(), out.data(), in.size());
    return;
  }
  if (!kernels::fits_float32(spec)) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = quantize_log_scalar(spec, in[i], i);
    return;
  }
  if (spec.rounding == Rounding::stochastic) return quantize_stochastic(spec, in, out);
  const auto kernel = kernels::log_kernels(simd::best_isa())[spec.rounding];
  kernel.quantize(kernels::log_grid(spec), in.data(), out.data(), in.size());
}

DeviceQuantizer log_on_device(const LogSpec& spec) {
  if (!kernels::fits_float32(spec)) return nullptr;
  return [spec](const kernels::DeviceKernels& table, const DeviceSpan& span) {
    return table.log[spec.rounding](kernels::log_grid(spec), spec.seed, span);
  };
}

Encoded encode_log(const LogSpec& spec, std::span<const float> in) {
  const auto define = [&](std::size_t first, Codes codes) {
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = define_code(spec, in[first + i], first + i);
  };
  if (!kernels::fits_float32(spec))
    return {encode_in_pieces(spec.width, in.size(), define), {}, {}};
  if (spec.rounding == Rounding::stochastic) return {encode_stochastic(spec, in), {}, {}};
  const auto kernel = kernels::log_kernels(simd::best_isa())[spec.rounding];
  const kernels::LogGrid grid = kernels::log_grid(spec);
  const auto make = [&](std::size_t first, Codes codes) {
    const bool has_nan = kernel.encode(grid, in.data() + first, codes.data(), codes.size());
    if (has_nan) define(first, codes);  // names the element
  };
  return {encode_in_pieces(spec.width, in.size(), make), {}, {}};
}

std::optional<Decoding> log_decoding(const LogSpec& spec) {
  if (spec.width > widest_element_table) return std::nullopt;
  return Decoding{.bits = spec.width, .elements = value_table(spec.width, [&](std::uint32_t code) {
                                        return static_cast<float>(log_value(spec, code));
                                      })};
}

void decode_log(const LogSpec& spec, const Encoded& in, std::span<float> out) {
  check_codes(in.codes, spec.width, out.size());
  decode_by_table(in.codes, out, [&](std::uint32_t code) { return log_value(spec, code); });
}

}  // namespace mase::formats
