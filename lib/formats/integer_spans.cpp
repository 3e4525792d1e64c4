// Integer formats over whole tensors.
#include "formats/integer_spans.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/encoding.hpp"
#include "formats/kernels/integer_kernel.hpp"
#include "formats/kernels/offset_kernel.hpp"

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

// A piece of a tensor as the stochastic kernels take it: elements and their offsets, with zeros up
// to the end of the arrays.
struct Piece {
  std::array<float, code_piece> elements{}, offsets{};

  void take(const IntegerSpec& spec, std::span<const float> in, std::size_t first) {
    elements.fill(0.0F);
    std::ranges::copy(in, elements.begin());
    kernels::offset_kernel(kernels::best_isa())(spec.seed, first, offsets.data(), code_piece);
  }
};

void quantize_stochastic(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  const auto& kernel = kernels::stochastic_kernels(kernels::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  Piece piece;
  for (std::size_t first = 0; first < in.size(); first += code_piece) {
    const std::size_t count = std::min(code_piece, in.size() - first);
    piece.take(spec, in.subspan(first, count), first);
    kernel.quantize(grid, piece.elements.data(), piece.offsets.data(), piece.elements.data(),
                    code_piece);
    std::copy_n(piece.elements.begin(), count, out.data() + first);
  }
}

PackedCodes encode_stochastic(const IntegerSpec& spec, std::span<const float> in) {
  const auto& kernel = kernels::stochastic_kernels(kernels::best_isa());
  const kernels::IntegerGrid grid = kernels::integer_grid(spec);
  Piece piece;
  std::array<std::uint32_t, code_piece> made;
  return encode_in_pieces(spec.width, in.size(), [&](std::size_t first, Codes codes) {
    const auto part = in.subspan(first, codes.size());
    for (std::size_t i = 0; i < part.size(); ++i)
      if (std::isnan(part[i])) refuse_nan(first + i, "integer");
    piece.take(spec, part, first);
    kernel.encode(grid, piece.elements.data(), piece.offsets.data(), made.data(), code_piece);
    std::copy_n(made.begin(), codes.size(), codes.begin());
  });
}

}  // namespace

void quantize_integer(const IntegerSpec& spec, std::span<const float> in, std::span<float> out) {
  if (spec.rounding == Rounding::stochastic) return quantize_stochastic(spec, in, out);
  const auto kernel = kernels::integer_kernel(kernels::best_isa(), spec.rounding, spec.profile);
  kernel(kernels::integer_grid(spec), in.data(), out.data(), in.size());
}

Encoded encode_integer(const IntegerSpec& spec, std::span<const float> in) {
  const auto define = [&](std::size_t first, Codes codes) { define_codes(spec, in, first, codes); };
  if (!has_code_kernel(spec)) return {encode_in_pieces(spec.width, in.size(), define), {}, {}};
  if (spec.rounding == Rounding::stochastic) return {encode_stochastic(spec, in), {}, {}};
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
  decode_in_pieces(in.codes, [&](std::size_t first, std::span<const std::uint32_t> codes) {
    if (has_code_kernel(spec)) return kernel(grid, codes.data(), out.data() + first, codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i)
      out[first + i] = decode_integer_scalar(spec, codes[i]);
  });
}

}  // namespace mase::formats
