// Integer formats over whole tensors.
#include "formats/integer_spans.hpp"

#include <cmath>

#include "formats/encoding.hpp"
#include "formats/kernels/integer_kernel.hpp"

namespace mase::formats {

void quantize_integer(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  if (spec.rounding == Rounding::stochastic) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = quantize_integer_scalar(spec, in[i], i);
    return;
  }
  const auto kernel = kernels::integer_kernel(kernels::best_isa(), spec.rounding, spec.profile);
  kernel(kernels::integer_grid(spec), in.data(), out.data(), in.size());
}

namespace {

bool has_code_kernel(const IntegerSpec& spec) {
  return spec.rounding != Rounding::stochastic && spec.width <= kernels::widest_code_kernel;
}

using Codes = std::span<std::uint32_t>;

// Codes of elements first and up by the definition.
void define_codes(const IntegerSpec& spec, std::span<const float> in, std::size_t first,
                  Codes codes) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (std::isnan(in[first + i])) refuse_nan(first + i, "integer");
    codes[i] = encode_integer_scalar(spec, in[first + i], first + i);
  }
}

}  // namespace

Encoded encode_integer(const IntegerSpec& spec, std::span<const float> in) {
  const auto define = [&](std::size_t first, Codes codes) { define_codes(spec, in, first, codes); };
  if (!has_code_kernel(spec)) return {encode_in_pieces(spec.width, in.size(), define), {}, {}};
  const auto kernel = kernels::integer_encoder(kernels::best_isa(), spec.rounding, spec.profile);
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  const auto make = [&](std::size_t first, Codes codes) {
    const bool has_nan = kernel(grid, in.data() + first, codes.data(), codes.size());
    if (has_nan) define(first, codes);  // names the element
  };
  return {encode_in_pieces(spec.width, in.size(), make), {}, {}};
}

void decode_integer(const IntegerSpec& spec, const Encoded& in, std::span<float> out) {
  check_codes(in.codes, spec.width, out.size());
  const auto kernel = kernels::integer_decoder(kernels::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  const bool is_narrow = spec.width <= kernels::widest_code_kernel;
  decode_in_pieces(in.codes, [&](std::size_t first, std::span<const std::uint32_t> codes) {
    if (is_narrow) return kernel(grid, codes.data(), out.data() + first, codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i)
      out[first + i] = decode_integer_scalar(spec, codes[i]);
  });
}

}  // namespace mase::formats
