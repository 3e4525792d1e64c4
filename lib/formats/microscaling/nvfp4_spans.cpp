// SPDX-License-Identifier: Apache-2.0
// nvfp4 over whole tensors.
#include "formats/microscaling/nvfp4_spans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "formats/block/block_engine.hpp"
#include "formats/block/decode_table.hpp"
#include "formats/decode_spans.hpp"
#include "formats/scalars.hpp"

namespace mase::formats {
namespace {

constexpr int element_code_bits = 4;
constexpr int scale_code_bits = 8;

// One level is the same as two levels with a tensor scale of 1.
float scale_of_tensor(const Nvfp4Spec& spec, std::span<const TilePeak> peaks) {
  if (!spec.two_levels) return 1.0F;
  if (spec.tensor_scale) return *spec.tensor_scale;
  float amax = 0.0F;
  for (const TilePeak& peak : peaks) amax = std::max(amax, peak.largest);
  return nvfp4_tensor_scale(amax);
}

// Searches in large pieces, which is faster than by blocks.
float scale_of_tensor(const Nvfp4Spec& spec, std::span<const float> in, simd::Isa isa) {
  constexpr std::int64_t piece = 4096;
  const auto count = static_cast<std::int64_t>(in.size());
  const bool computed = spec.two_levels && !spec.tensor_scale && count > 0;
  const Tiling pieces{{count}, {std::min(piece, count)}};
  return scale_of_tensor(spec, computed ? tile_peaks(pieces, in, isa) : std::vector<TilePeak>{});
}

float block_scale(const TilePeak& peak, float tensor_scale) {
  return peak.nonfinite ? quiet_nan : nvfp4_block_scale(peak.largest, tensor_scale);
}

Nvfp4Factors factors_of(const TilePeak& peak, float tensor_scale) {
  return nvfp4_factors(block_scale(peak, tensor_scale), tensor_scale);
}

void copy_magnitudes(std::span<const TilePeak> peaks, float* to) {
  for (std::size_t t = 0; t < peaks.size(); ++t)
    to[t] = peaks[t].nonfinite ? quiet_nan : peaks[t].largest;
}

// The scale codes of blocks from their peaks.
class ScaleCodes {
 public:
  ScaleCodes(const MxBlocks& blocks, float tensor_scale)
      : scaling_(kernels::nvfp4_kernels(simd::best_isa()).scaling),
        tensor_scale_(tensor_scale),
        packer_(blocks, scale_code_bits) {}

  void add(std::span<const TilePeak> peaks) {
    scales_.resize(peaks.size() + kernels::nvfp4_padding);
    down_.resize(scales_.size());
    codes_.resize(peaks.size());
    copy_magnitudes(peaks, scales_.data());
    scaling_(tensor_scale_, peaks.size(), down_.data(), scales_.data());
    for (std::size_t t = 0; t < codes_.size(); ++t) codes_[t] = nvfp4_scale_code(scales_[t]);
    packer_.append(codes_);
  }
  PackedCodes finish() { return packer_.finish(); }

 private:
  kernels::Nvfp4Scaling scaling_;
  float tensor_scale_;
  ScalePacker packer_;
  std::vector<float> scales_, down_;
  std::vector<std::uint32_t> codes_;
};

BlockKernel block_kernel(const Nvfp4Spec& spec, float tensor_scale, bool encodes, simd::Isa isa) {
  const kernels::MxGrid grid = mx_grid(nvfp4_element(spec.rounding, spec.seed), element_code_bits);
  const kernels::MxKernels& minifloat = kernels::mx_minifloat_kernels(isa);
  const kernels::Nvfp4Kernels& nvfp4 = kernels::nvfp4_kernels(isa);
  const auto on_strip = (encodes ? minifloat.codes : minifloat.values)[spec.rounding].on_strip;
  const auto fill = [tensor_scale, scaling = nvfp4.scaling](std::span<const TilePeak> peaks,
                                                            kernels::TileFactors& factors) {
    float* const up = factors.of(kernels::mx_up);
    copy_magnitudes(peaks, up);
    scaling(tensor_scale, peaks.size(), factors.of(kernels::mx_down), up);
    for (std::size_t t = 0; t < peaks.size(); ++t) up[t] *= tensor_scale;
  };
  const kernels::Nvfp4Kernel kernel = (encodes ? nvfp4.codes : nvfp4.values)[spec.rounding];
  return {kernels::mx_factor_count,
          fill,
          [grid, on_strip](const kernels::Strip& strip, const kernels::TileFactors& factors) {
            on_strip(grid, strip, factors);
          },
          [grid, kernel, tensor_scale](const kernels::Runs& runs) {
            return kernel.on_runs(grid, tensor_scale, runs);
          },
          [grid, kernel, tensor_scale](const kernels::Strip& strip) {
            return kernel.on_columns(grid, tensor_scale, strip);
          },
          spec.seed};
}

float stored_scale(const Nvfp4Spec& spec, const Encoded& in) {
  if (in.scales.size() != (spec.two_levels ? 1U : 0U))
    file_error(std::to_string(in.scales.size()) + " tensor scales for nvfp4 with " +
               (spec.two_levels ? "two levels" : "one level"));
  return spec.two_levels ? in.scales.front() : 1.0F;
}

}  // namespace

void quantize_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in,
                    std::span<float> out, simd::Isa isa) {
  const float scale = scale_of_tensor(spec, in, isa);
  quantize_blocks(blocks.tiling, in, out, block_kernel(spec, scale, false, isa), isa);
}

Encoded encode_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in) {
  const float tensor_scale = scale_of_tensor(spec, in, simd::best_isa());
  ScaleCodes scales(blocks, tensor_scale);
  PackedCodes codes =
      encode_blocks(blocks.tiling, in, block_kernel(spec, tensor_scale, true, simd::best_isa()),
                    element_code_bits, [&](std::span<const TilePeak> peaks) { scales.add(peaks); });
  Encoded encoded{std::move(codes), scales.finish(), {}};
  if (spec.two_levels) encoded.scales.push_back(tensor_scale);
  return encoded;
}

void decode_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, const Encoded& in,
                  std::span<float> out) {
  const auto tiles = static_cast<std::size_t>(blocks.tiling.tiles());
  const float tensor_scale = stored_scale(spec, in);
  check_codes(in.codes, element_code_bits, out.size());
  check_codes(in.shared, scale_code_bits, tiles);
  if (are_small_tables(element_code_bits, scale_code_bits, out.size()))
    return decode_by_factors(nvfp4_decoding(spec, blocks), in, out);
  const std::vector<std::uint32_t> scales = scales_in_order(blocks, in.shared.unpack());
  const MinifloatSpec element = nvfp4_element(spec.rounding, spec.seed);
  decode_by_pairs(blocks.tiling, CodeWindow(in.codes), element_code_bits, scales, scale_code_bits,
                  out, [&](std::uint32_t code, std::uint32_t scale) {
                    const float up = nvfp4_factors(nvfp4_scale_value(scale), tensor_scale).up;
                    return static_cast<float>(minifloat_value(element, code)) * up;
                  });
}

Decoding nvfp4_decoding(const Nvfp4Spec& spec, const MxBlocks& blocks) {
  const MinifloatSpec element = nvfp4_element(spec.rounding, spec.seed);
  Decoding decoding{
      .bits = element_code_bits, .tiling = blocks.tiling, .shared_bits = scale_code_bits};
  decoding.elements = value_table(
      element_code_bits, [&](std::uint32_t code) { return minifloat_value(element, code); });
  decoding.factors = value_table(scale_code_bits, nvfp4_scale_value);
  decoding.last_dimension = last_dimension(blocks);
  if (spec.two_levels) decoding.scales = Decoding::Scales::of_tensor;
  return decoding;
}

void saturates_nvfp4(const Nvfp4Spec& spec, const MxBlocks& blocks, std::span<const float> in,
                     std::span<std::uint8_t> mask) {
  const std::vector<TilePeak> peaks = tile_peaks(blocks.tiling, in);
  const float tensor_scale = scale_of_tensor(spec, peaks);
  std::vector<float> limits(peaks.size(), std::numeric_limits<float>::max());
  for (std::size_t t = 0; t < peaks.size(); ++t)
    if (!peaks[t].nonfinite)
      limits[t] = static_cast<float>(nvfp4_element({}, 0).largest()) *
                  factors_of(peaks[t], tensor_scale).up;
  for_each_element(blocks.tiling, [&](std::size_t i, std::size_t tile) {
    mask[i] = std::abs(in[i]) > limits[tile];
  });
}

double nvfp4_bits(const Nvfp4Spec& spec, const MxBlocks& blocks) {
  const auto count = static_cast<double>(numel(blocks.tiling.shape));
  if (count == 0) return element_code_bits;
  const double shared = scale_code_bits * static_cast<double>(blocks.tiling.tiles());
  return element_code_bits + (shared + (spec.two_levels ? 32 : 0)) / count;
}

}  // namespace mase::formats
