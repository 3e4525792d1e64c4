// SPDX-License-Identifier: Apache-2.0
// The format `ternary` over tensors.
#include "formats/low_bit/ternary.hpp"

#include "formats/device/device_table.hpp"
#include "formats/encoding.hpp"
#include "formats/low_bit/three_way_spans.hpp"

namespace mase::formats {
namespace {

// A given threshold without a scale is the same everywhere, so the tensor is one slice.
Slices slices_of(const TernarySpec& spec, const Shape& shape) {
  return spec.threshold && !spec.scaled ? Slices{1, static_cast<std::size_t>(numel(shape))}
                                        : first_dimension_slices(shape);
}

ThreeWayFormat three_way_format(const TernarySpec& spec) {
  return {"ternary", 2, spec.scaled,
          [spec](std::span<const float> slice) {
            const double threshold = ternary_threshold(spec, slice);
            return ternary_three_way(spec, threshold, ternary_scale(spec, slice, threshold));
          },
          [spec](float scale) { return ternary_three_way(spec, 0, scale); }};
}

std::optional<double> times(double factor, const std::optional<double>& statistic) {
  if (!statistic) return std::nullopt;
  return factor * *statistic;
}

}  // namespace

TernarySpec Ternary::spec() const {
  TernarySpec spec{scaling_factor, std::nullopt, profile_value()};
  if (spec.profile == Profile::reference) return spec;
  for (const auto& given : {threshold, times(0.75, mean), times(0.05, max), times(0.75, median)})
    if (given && !spec.threshold) spec.threshold = given;
  return spec;
}

double Ternary::bits_per_element(const Shape& shape) const {
  return bits_with_scales(2, scaling_factor ? first_dimension_slices(shape).count : 0, shape);
}

void Ternary::check(const Shape& shape) const {
  if (profile == "reference") check_rank_four(shape, "ternary values");
}

void Ternary::quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const {
  quantize_three_way(three_way_format(spec()), slices_of(spec(), shape), in, out);
}

DeviceQuantizer Ternary::device_quantizer(const Shape&) const {
  if (scaling_factor || !spec().threshold) return nullptr;
  return [spec = spec()](const kernels::DeviceKernels& table, const DeviceSpan& span) {
    return table.three_way(ternary_three_way(spec, *spec.threshold, 1.0F), 0, span);
  };
}

Encoded Ternary::encode(std::span<const float> in, const Shape& shape) const {
  return encode_three_way(three_way_format(spec()), slices_of(spec(), shape), in);
}

void Ternary::decode(const Encoded& in, std::span<float> out, const Shape& shape) const {
  decode_three_way(three_way_format(spec()), slices_of(spec(), shape), in, out);
}

std::int64_t Ternary::rows_together(const Shape& shape) const {
  return spec().threshold && !scaling_factor ? 0 : rows_of_slices(shape);
}

std::optional<Decoding> Ternary::decoding(const Shape& shape) const {
  Decoding decoding{.bits = 2, .elements = {0.0, 1.0, 0.0, -1.0}};
  if (!scaling_factor) return decoding;
  decoding.tiling = first_dimension_tiling(shape);
  decoding.scales = Decoding::Scales::of_tiles;
  return decoding;
}

void Ternary::saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                        const Shape&) const {
  for (std::size_t i = 0; i < in.size(); ++i)
    mask[i] = !scaling_factor && (in[i] < -1.0F || in[i] > 1.0F) ? 1 : 0;
}

FormatRow ternary_row() { return format_row<Ternary>(); }

}  // namespace mase::formats
