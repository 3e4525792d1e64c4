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

Encoded encode_integer(const IntegerSpec& spec, std::span<const float> in) {
  std::vector<std::uint32_t> codes(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(in[i])) refuse_nan(i, "integer");
    codes[i] = encode_integer_scalar(spec, in[i], i);
  }
  return {pack_codes(codes, spec.width), {}, {}};
}

void decode_integer(const IntegerSpec& spec, const Encoded& in, std::span<float> out) {
  const std::vector<std::uint32_t> codes = codes_of(in.codes, spec.width, out.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = decode_integer_scalar(spec, codes[i]);
}

}  // namespace mase::formats
