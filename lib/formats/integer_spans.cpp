// Integer formats over whole tensors.
#include "formats/integer_spans.hpp"

#include <cmath>

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
  Encoded out;
  out.code_bits = spec.width;
  out.codes.resize(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(in[i]))
      file_error("element " + std::to_string(i) +
                 " is NaN, which has no integer code; mend the tensor or leave it in float");
    out.codes[i] = encode_integer_scalar(spec, in[i], i);
  }
  return out;
}

void decode_integer(const IntegerSpec& spec, const Encoded& in, std::span<float> out) {
  if (in.code_bits != spec.width)
    file_error("codes of " + std::to_string(in.code_bits) + " bits for a format of width " +
               std::to_string(spec.width));
  if (in.codes.size() != out.size())
    file_error(std::to_string(in.codes.size()) + " codes for a tensor of " +
               std::to_string(out.size()) + " elements");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = decode_integer_scalar(spec, in.codes[i]);
}

}  // namespace mase::formats
