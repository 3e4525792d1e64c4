// SPDX-License-Identifier: Apache-2.0
// The format `binary` over tensors.
#include "formats/low_bit/binary.hpp"

#include <cmath>

#include "formats/device/device_table.hpp"
#include "formats/drawn_spans.hpp"
#include "formats/encoding.hpp"
#include "formats/low_bit/three_way_spans.hpp"

namespace mase::formats {
namespace {

// Without a scale the values are the same everywhere, so the tensor is one slice.
Slices slices_of(const BinarySpec& spec, const Shape& shape) {
  return spec.scaled ? first_dimension_slices(shape)
                     : Slices{1, static_cast<std::size_t>(numel(shape))};
}

float alpha_of(const BinarySpec& spec, std::span<const float> slice) {
  return spec.scaled ? static_cast<float>(mean_magnitude(slice, spec.profile)) : 1.0F;
}

ThreeWayFormat three_way_format(const BinarySpec& spec) {
  return {"binary", 1, spec.scaled,
          [spec](std::span<const float> slice) {
            return binary_three_way(spec, alpha_of(spec, slice));
          },
          [spec](float scale) { return binary_three_way(spec, scale); }};
}

void quantize_stochastic(const BinarySpec& spec, const Slices& slices, std::span<const float> in,
                         std::span<float> out) {
  const auto& kernel = kernels::drawn_sign_kernel(simd::best_isa());
  for (std::size_t i = 0; i < slices.count; ++i) {
    const kernels::ThreeWay values = binary_three_way(spec, alpha_of(spec, slices.of(in, i)));
    quantize_drawn(
        spec.seed, slices.of(in, i), slices.of(out, i),
        [&](const float* from, const float* u, float* to, std::size_t count) {
          kernel.quantize(values, from, u, to, count);
        },
        i * slices.size);
  }
}

Encoded encode_stochastic(const BinarySpec& spec, const Slices& slices, std::span<const float> in) {
  Encoded out;
  out.codes =
      encode_drawn(1, spec.seed, in, "binary", kernels::drawn_sign_kernel(simd::best_isa()).encode);
  for (std::size_t i = 0; spec.scaled && i < slices.count; ++i)
    out.scales.push_back(alpha_of(spec, slices.of(in, i)));
  return out;
}

}  // namespace

void Binary::resolve(const Tree& given, Diagnostics& diagnostics) {
  if (!scaled) scaled = !bipolar;
  if (profile == "reference" && *scaled == bipolar)
    diagnostics.error(
        place_of(given, "scaled"),
        "profile 'reference' scales values if and only if they are not bipolar; leave "
        "out 'scaled', or use profile 'exact'");
  if (profile == "reference" && stochastic)
    diagnostics.error(
        place_of(given, "stochastic"),
        "profile 'reference' has no stochastic signs that can be reproduced; use profile "
        "'exact'");
  if (seed != 0 && !stochastic)
    diagnostics.warning(place_of(given, "seed"), "'seed' has no effect unless 'stochastic' is set");
}

BinarySpec Binary::spec() const {
  return {bipolar, stochastic, scaled.value_or(!bipolar), profile_value(),
          Seed(static_cast<std::uint64_t>(seed), first_number)};
}

double Binary::bits_per_element(const Shape& shape) const {
  return bits_with_scales(1, spec().scaled ? first_dimension_slices(shape).count : 0, shape);
}

void Binary::check(const Shape& shape) const {
  if (profile == "reference" && !bipolar) check_rank_four(shape, "binary values 0 and 1");
}

void Binary::quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const {
  const Slices slices = slices_of(spec(), shape);
  if (stochastic)
    quantize_stochastic(spec(), slices, in, out);
  else
    quantize_three_way(three_way_format(spec()), slices, in, out);
}

DeviceQuantizer Binary::device_quantizer(const Shape&) const {
  if (spec().scaled) return nullptr;
  return [spec = spec()](const kernels::DeviceKernels& table, const DeviceSpan& span) {
    const auto kernel = spec.stochastic ? table.drawn_sign : table.three_way;
    return kernel(binary_three_way(spec, 1.0F), spec.seed, span);
  };
}

Encoded Binary::encode(std::span<const float> in, const Shape& shape) const {
  const Slices slices = slices_of(spec(), shape);
  return stochastic ? encode_stochastic(spec(), slices, in)
                    : encode_three_way(three_way_format(spec()), slices, in);
}

void Binary::decode(const Encoded& in, std::span<float> out, const Shape& shape) const {
  decode_three_way(three_way_format(spec()), slices_of(spec(), shape), in, out);
}

std::int64_t Binary::rows_together(const Shape& shape) const {
  return spec().scaled ? rows_of_slices(shape) : 0;
}

std::optional<Decoding> Binary::decoding(const Shape& shape) const {
  const BinarySpec binary = spec();
  Decoding decoding{.bits = 1, .elements = {binary_value(binary, false, 1.0F), 1.0}};
  if (!binary.scaled) return decoding;
  decoding.tiling = first_dimension_tiling(shape);
  decoding.scales = Decoding::Scales::of_tiles;
  return decoding;
}

void Binary::saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                       const Shape&) const {
  const bool is_fixed = !spec().scaled;
  const Range limits = range();
  for (std::size_t i = 0; i < in.size(); ++i)
    mask[i] = is_fixed && (in[i] < limits.low || in[i] > limits.high) ? 1 : 0;
}

FormatRow binary_row() { return format_row<Binary>(); }

}  // namespace mase::formats
