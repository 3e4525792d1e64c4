// SPDX-License-Identifier: Apache-2.0
// Integer formats over whole tensors.
#include "formats/fixed/integer_spans.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/encoding.hpp"
#include "formats/fixed/integer_kernel.hpp"
#include "formats/offset_kernel.hpp"

namespace mase::formats {

namespace {

using Codes = std::span<std::uint32_t>;

bool has_code_kernel(const IntegerSpec& spec) { return spec.width <= kernels::widest_code_kernel; }

// Codes of elements first and up by the definition.
void define_codes(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                  Codes codes) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (std::isnan(in[first + i])) refuse_nan(first + i, "integer");
    codes[i] = encode_integer_scalar(spec, in[first + i], first + i);
  }
}

using Offsets = std::array<float, code_piece>;

// The stochastic kernels take multiples of this many elements: `run(in, offsets, out, count)` gets
// `out` itself as far as these go, and a copy with zeros for the rest.
constexpr std::size_t unit = 16;

template <class T, class Run>
void run_in_units(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                  std::span<T> out, Offsets& offsets, const Run& run) {
  kernels::offset_kernel(simd::best_isa())(spec.seed, first, offsets.data(), code_piece);
  const std::size_t whole = in.size() - in.size() % unit;
  run(in.data(), offsets.data(), out.data(), whole);
  if (whole == in.size()) return;
  std::array<float, unit> rest{};
  std::array<T, unit> made;
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(whole), in.end(), rest.begin());
  run(rest.data(), offsets.data() + whole, made.data(), unit);
  std::copy_n(made.begin(), in.size() - whole, out.begin() + static_cast<std::ptrdiff_t>(whole));
}

void quantize_stochastic(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  const auto& kernel = kernels::stochastic_kernels(simd::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  Offsets offsets;
  for (std::size_t first = 0; first < in.size(); first += code_piece) {
    const std::size_t count = std::min(code_piece, in.size() - first);
    run_in_units(spec, in.subspan(first, count), first, out.subspan(first, count), offsets,
                 [&](const float* from, const float* u, float* to, std::size_t elements) {
                   kernel.quantize(grid, from, u, to, elements);
                 });
  }
}

PackedCodes encode_stochastic(const IntegerSpec& spec, std::span<const float> in) {
  const auto& kernel = kernels::stochastic_kernels(simd::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  Offsets offsets;
  return encode_in_pieces(spec.width, in.size(), [&](std::size_t first, Codes codes) {
    const auto part = in.subspan(first, codes.size());
    for (std::size_t i = 0; i < part.size(); ++i)
      if (std::isnan(part[i])) refuse_nan(first + i, "integer");
    run_in_units(spec, part, first, codes, offsets,
                 [&](const float* from, const float* u, std::uint32_t* to, std::size_t elements) {
                   kernel.encode(grid, from, u, to, elements);
                 });
  });
}

}  // namespace

void quantize_integer(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  if (spec.rounding == Rounding::stochastic) return quantize_stochastic(spec, in, out);
  const auto kernel = kernels::integer_kernel(simd::best_isa(), spec.rounding, spec.profile);
  kernel(kernels::integer_grid(spec), in.data(), out.data(), in.size());
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
