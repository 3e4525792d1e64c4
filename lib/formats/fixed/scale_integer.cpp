// SPDX-License-Identifier: Apache-2.0
// The format `scale_integer` over tensors, row by row.
#include "formats/fixed/scale_integer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "formats/drawn_spans.hpp"
#include "formats/encoding.hpp"
#include "formats/fixed/integer_kernel.hpp"
#include "formats/fixed/row_kernel.hpp"

namespace mase::formats {
namespace {

using Row = std::span<const float>;

bool has_kernel(const ScaleIntegerSpec& spec) {
  return spec.profile == Profile::exact && spec.width <= kernels::widest_row_kernel;
}

kernels::RowGrid grid_of(const ScaleIntegerSpec& spec, float step) {
  return {step, static_cast<float>(spec.low()), static_cast<float>(spec.high())};
}

// A grid for decoding: values are code * step, as in the integer formats.
kernels::IntegerGrid step_grid(const ScaleIntegerSpec& spec, float step) {
  kernels::IntegerGrid grid;
  grid.step = step;
  grid.sign = spec.is_signed ? static_cast<std::int32_t>(1U << (spec.width - 1)) : 0;
  return grid;
}

float scale_of(const ScaleIntegerSpec& spec, Row row) {
  if (spec.profile == Profile::reference)
    return row_scale(spec,
                     kernels::reference_row_kernel(simd::best_isa()).peak(row.data(), row.size()));
  if (!has_kernel(spec)) return row_scale(spec, row_peak(row, spec.profile));
  const auto& kernel = kernels::row_kernels(simd::best_isa()).nearest_even;  // any rounding will do
  return row_scale(spec, kernel.peak(row.data(), row.size()));
}

// In `reference` a row with an element that is not finite has no values, and hence no codes.
void check_element(const ScaleIntegerSpec& spec, float x, float scale, std::size_t index) {
  if (std::isnan(quantize_scale_integer_scalar(spec, x, scale, index)))
    refuse_nan(index, "scale_integer");
}

std::uint32_t low_bits(double code) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(code));
}

// The codes, from element `first` on, of a row that starts at element `start` of the tensor.
void define_codes(const ScaleIntegerSpec& spec, Row part, float scale, std::size_t start,
                  std::span<std::uint32_t> codes) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    check_element(spec, part[i], scale, start + i);
    codes[i] = low_bits(scale_integer_code(spec, part[i], scale, start + i));
  }
}

// Quantizes a part of one row from element `start` of the tensor on, for formats with a kernel.
void quantize_part(const ScaleIntegerSpec& spec, Row part, float scale, std::size_t start,
                   std::span<float> out, bool stream) {
  const kernels::RowGrid grid = grid_of(spec, scale);
  if (spec.rounding != Rounding::stochastic) {
    const auto& kernel = kernels::row_kernels(simd::best_isa())[spec.rounding];
    return kernel.quantize(grid, part.data(), out.data(), part.size(), stream);
  }
  const auto& kernel = kernels::drawn_row_kernel(simd::best_isa());
  quantize_drawn(
      spec.seed, part, out,
      [&](const float* from, const float* u, float* to, std::size_t count) {
        kernel.quantize(grid, from, u, to, count);
      },
      start);
}

// The same for codes, of at most a piece; returns false when there is a NaN.
bool encode_part(const ScaleIntegerSpec& spec, Row part, float scale, std::size_t start,
                 std::span<std::uint32_t> codes) {
  const kernels::RowGrid grid = grid_of(spec, scale);
  if (spec.rounding != Rounding::stochastic) {
    const auto& kernel = kernels::row_kernels(simd::best_isa())[spec.rounding];
    return !kernel.encode(grid, part.data(), codes.data(), codes.size());
  }
  const auto& kernel = kernels::drawn_row_kernel(simd::best_isa());
  Offsets offsets;
  run_in_units(spec.seed, part, start, codes, offsets,
               [&](const float* from, const float* u, std::uint32_t* to, std::size_t count) {
                 kernel.encode(grid, from, u, to, count);
               });
  return std::ranges::none_of(part, [](float x) { return std::isnan(x); });
}

double number_of(const ScaleIntegerSpec& spec, std::uint32_t code) {
  const bool is_negative = spec.is_signed && (code >> (spec.width - 1)) != 0;
  return static_cast<double>(code) - (is_negative ? std::ldexp(1.0, spec.width) : 0.0);
}

/// What shares one of the given steps, or one of its row.
Tiling tiling_of(const Shape& shape, std::size_t steps) {
  if (steps == 0) return line_tiling(shape, -1, -1);
  return steps == 1 ? block_tiling(shape, {}, false, std::nullopt) : first_dimension_tiling(shape);
}

}  // namespace

void ScaleInteger::resolve(const Tree& given, Diagnostics& diagnostics) {
  check_common(given, false, diagnostics);
  if (width == 1 && is_signed && profile == "exact")
    diagnostics.error(place_of(given, "width"),
                      "a signed code of 1 bit has no positive value to scale by; use width 2 or "
                      "more, or is_signed=false");
  const auto is_float = [](double step) {
    return step == static_cast<double>(static_cast<float>(step));
  };
  if (!std::ranges::all_of(channel_step, is_float))
    diagnostics.error(place_of(given, "channel_step"),
                      "a step is a float32 number; write the nearest one");
  if (!channel_step.empty() && profile != "exact")
    diagnostics.error(place_of(given, "channel_step"),
                      "profile 'reference' has no given steps; leave it at 'exact'");
}

void ScaleInteger::check(const Shape& shape) const {
  if (channel_step.size() < 2) return;
  const auto steps = static_cast<std::int64_t>(channel_step.size());
  if (shape.empty() || shape.front() != steps)
    config_error("steps of " + std::to_string(steps) + " channels for a tensor " +
                 shape_text(shape) + "; give it one for each index of dimension 0, or one for all");
}

Slices ScaleInteger::slices(const Shape& shape) const {
  if (channel_step.empty()) return row_slices(shape);
  const std::size_t elements = static_cast<std::size_t>(numel(shape));
  return {channel_step.size(), elements / channel_step.size()};
}

float ScaleInteger::step_of(std::size_t slice, std::span<const float> values) const {
  return channel_step.empty() ? scale_of(spec(), values) : static_cast<float>(channel_step[slice]);
}

ScaleIntegerSpec ScaleInteger::spec() const {
  return {width, is_signed, rounding_value(), profile_value(), seed_value(), !channel_step.empty()};
}

double ScaleInteger::bits_per_element(const Shape& shape) const {
  return bits_with_scales(width, slices(shape).count, shape);
}

void ScaleInteger::quantize(std::span<const float> in, std::span<float> out,
                            const Shape& shape) const {
  const ScaleIntegerSpec integer = spec();
  const Slices rows = slices(shape);
  const bool stream = in.size() >= simd::streaming_count;
  for (std::size_t r = 0; r < rows.count; ++r) {
    const Row row = rows.of(in, r);
    const std::span<float> made = rows.of(out, r);
    const float scale = step_of(r, row);
    if (integer.profile == Profile::reference) {
      const auto run = kernels::reference_row_kernel(simd::best_isa()).quantize;
      run(grid_of(integer, scale), row.data(), made.data(), row.size(), stream);
    } else if (has_kernel(integer)) {
      quantize_part(integer, row, scale, r * rows.size, made, stream);
    } else {
      for (std::size_t i = 0; i < row.size(); ++i)
        made[i] = quantize_scale_integer_scalar(integer, row[i], scale, r * rows.size + i);
    }
  }
  if (stream) simd::stream_fence();
}

Encoded ScaleInteger::encode(std::span<const float> in, const Shape& shape) const {
  const ScaleIntegerSpec integer = spec();
  const Slices rows = slices(shape);
  CodePacker packer(width, in.size());
  std::vector<float> scales;
  std::array<std::uint32_t, code_piece> codes;
  for (std::size_t r = 0; r < rows.count; ++r) {
    const Row row = rows.of(in, r);
    const float scale = scales.emplace_back(step_of(r, row));
    for (std::size_t first = 0; first < row.size(); first += code_piece) {
      const Row part = row.subspan(first, std::min(code_piece, row.size() - first));
      const std::span<std::uint32_t> made(codes.data(), part.size());
      const std::size_t start = r * rows.size + first;
      const bool defined = has_kernel(integer) && encode_part(integer, part, scale, start, made);
      if (!defined) define_codes(integer, part, scale, start, made);
      packer.append(made);
    }
  }
  return {packer.finish(), {}, std::move(scales)};
}

void ScaleInteger::decode(const Encoded& in, std::span<float> out, const Shape& shape) const {
  const ScaleIntegerSpec integer = spec();
  const Slices rows = slices(shape);
  check_codes(in.codes, width, out.size());
  check_scale_count(in.scales, rows.count);
  std::array<std::uint32_t, code_piece> codes;
  const auto kernel = kernels::integer_decoder(simd::best_isa());
  for (std::size_t r = 0; r < rows.count; ++r)
    for (std::size_t first = 0; first < rows.size; first += code_piece) {
      const std::size_t start = r * rows.size + first;
      const std::span<std::uint32_t> part(codes.data(), std::min(code_piece, rows.size - first));
      in.codes.unpack(start, part);
      if (has_kernel(integer))
        kernel(step_grid(integer, in.scales[r]), part.data(), out.data() + start, part.size());
      for (std::size_t i = 0; !has_kernel(integer) && i < part.size(); ++i)
        out[start + i] = scale_integer_value(integer, number_of(integer, part[i]), in.scales[r]);
    }
}

std::int64_t ScaleInteger::rows_together(const Shape& shape) const {
  if (channel_step.size() == 1) return 0;
  return channel_step.empty() ? rows_of_slices(shape) : 1;
}

std::shared_ptr<const FormatDefinition> ScaleInteger::of_rows(std::int64_t first,
                                                              std::int64_t count) const {
  if (channel_step.size() < 2) return Defined<ScaleInteger>::of_rows(first, count);
  auto rows = std::make_shared<ScaleInteger>(*this);
  const auto begin = channel_step.begin() + first;
  rows->channel_step.assign(begin, begin + count);
  return rows;
}

std::optional<Decoding> ScaleInteger::decoding(const Shape& shape) const {
  if (profile == "reference") return std::nullopt;  // quotients
  return Decoding{.bits = width,
                  .is_signed = is_signed,
                  .tiling = tiling_of(shape, channel_step.size()),
                  .scales = channel_step.size() == 1 ? Decoding::Scales::of_tensor
                                                     : Decoding::Scales::of_tiles};
}

void ScaleInteger::saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                             const Shape& shape) const {
  const ScaleIntegerSpec integer = spec();
  const Slices parts = slices(shape);
  for (std::size_t i = 0; !channel_step.empty() && i < in.size(); ++i) {
    const double step = channel_step[i / parts.size];
    mask[i] = in[i] < integer.low() * step || in[i] > integer.high() * step ? 1 : 0;
  }
  if (!channel_step.empty()) return;
  for (std::size_t i = 0; i < in.size(); ++i)
    mask[i] = std::isinf(in[i]) || (!is_signed && in[i] < 0.0F) ? 1 : 0;
}

FormatRow scale_integer_row() { return format_row<ScaleInteger>(); }

}  // namespace mase::formats
