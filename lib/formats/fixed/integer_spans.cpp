// SPDX-License-Identifier: Apache-2.0
// Integer formats over whole tensors.
#include "formats/fixed/integer_spans.hpp"

#include <algorithm>
#include <cmath>

#include "formats/device/device_table.hpp"
#include "formats/drawn_spans.hpp"
#include "formats/encoding.hpp"
#include "formats/fixed/integer_kernel.hpp"

namespace mase::formats {

namespace {

using Codes = std::span<std::uint32_t>;

bool has_code_kernel(const IntegerSpec& spec) { return spec.width <= kernels::widest_code_kernel; }

// The codes of elements from `first` on, by the definition.
void define_codes(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                  Codes codes) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (std::isnan(in[first + i])) refuse_nan(first + i, "integer");
    codes[i] = encode_integer_scalar(spec, in[first + i], first + i);
  }
}

void quantize_stochastic(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  const auto& kernel = kernels::stochastic_kernels(simd::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  quantize_drawn(spec.seed, in, out,
                 [&](const float* from, const float* u, float* to, std::size_t count) {
                   kernel.quantize(grid, from, u, to, count);
                 });
}

PackedCodes encode_stochastic(const IntegerSpec& spec, std::span<const float> in) {
  const auto& kernel = kernels::stochastic_kernels(simd::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  return encode_drawn(spec.width, spec.seed, in, "integer",
                      [&](const float* from, const float* u, std::uint32_t* to, std::size_t count) {
                        kernel.encode(grid, from, u, to, count);
                      });
}

}  // namespace

void quantize_integer(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  if (spec.rounding == Rounding::stochastic) return quantize_stochastic(spec, in, out);
  const auto kernel = kernels::integer_kernel(simd::best_isa(), spec.rounding, spec.profile);
  kernel(kernels::integer_grid(spec), in.data(), out.data(), in.size());
}

DeviceQuantizer integer_on_device(const IntegerSpec& spec) {
  return [spec](const kernels::DeviceKernels& table, const DeviceSpan& span) {
    const auto kernel = spec.profile == Profile::exact     ? table.integer[spec.rounding]
                        : spec.rounding == Rounding::floor ? table.reference_integer_floor
                                                           : table.reference_integer;
    return kernel(kernels::integer_grid(spec), spec.seed, span);
  };
}

void integer_codes(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                   std::span<std::uint32_t> codes) {
  if (!has_code_kernel(spec)) return define_codes(spec, in, first, codes);
  const auto kernel = kernels::integer_encoder(simd::best_isa(), spec.rounding, spec.profile);
  const bool has_nan =
      kernel(kernels::integer_grid(spec), in.data() + first, codes.data(), codes.size());
  if (has_nan) define_codes(spec, in, first, codes);  // names the element
}

void integer_values(const IntegerSpec& spec, std::span<const std::uint32_t> codes,
                    std::span<float> out) {
  if (has_code_kernel(spec)) {
    const auto kernel = kernels::integer_decoder(simd::best_isa());
    return kernel(kernels::integer_grid(spec), codes.data(), out.data(), codes.size());
  }
  for (std::size_t i = 0; i < codes.size(); ++i) out[i] = decode_integer_scalar(spec, codes[i]);
}

Encoded encode_integer(const IntegerSpec& spec, std::span<const float> in) {
  const bool stochastic = spec.rounding == Rounding::stochastic;
  if (stochastic && has_code_kernel(spec)) return {encode_stochastic(spec, in), {}, {}};
  const auto make = [&](std::size_t first, Codes codes) {
    if (stochastic) return define_codes(spec, in, first, codes);
    integer_codes(spec, in, first, codes);
  };
  return {encode_in_pieces(spec.width, in.size(), make), {}, {}};
}

void decode_integer(const IntegerSpec& spec, const Encoded& in, std::span<float> out) {
  check_codes(in.codes, spec.width, out.size());
  decode_in_pieces(in.codes, [&](std::size_t first, std::span<const std::uint32_t> codes) {
    integer_values(spec, codes, out.subspan(first, codes.size()));
  });
}

}  // namespace mase::formats
