// SPDX-License-Identifier: Apache-2.0
// Microscaling formats over whole tensors.
#include "formats/microscaling/mx_spans.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "formats/block/block_engine.hpp"
#include "formats/block/decode_table.hpp"
#include "formats/decode_spans.hpp"
#include "formats/device/tile_quantizer.hpp"
#include "formats/microscaling/mx_reference.hpp"
#include "formats/microscaling/mx_reference_kernel.hpp"
#include "formats/scalars.hpp"

namespace mase::formats {
namespace {

using kernels::TileFactors;

constexpr float largest_float = std::numeric_limits<float>::max();

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

// [outer][axis][inner] to [outer][inner][axis].
template <class T>
std::vector<T> axis_last(std::span<const T> in, std::int64_t outer, std::int64_t axis,
                         std::int64_t inner) {
  if (axis == 1 || inner == 1) return {in.begin(), in.end()};
  std::vector<T> out(in.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t a = 0; a < axis; ++a)
      for (std::int64_t i = 0; i < inner; ++i)
        out[size_of((o * inner + i) * axis + a)] = in[size_of((o * axis + a) * inner + i)];
  return out;
}

template <class T>
std::vector<T> moved(const MxBlocks& blocks, std::span<const T> in) {
  return axis_last(in, blocks.outer, blocks.axis, blocks.inner);
}

template <class T>
std::vector<T> moved_back(const MxBlocks& blocks, std::span<const T> in) {
  return axis_last(in, blocks.outer, blocks.inner, blocks.axis);
}

/// The same blocks after their elements have been moved.
MxBlocks in_order(MxBlocks blocks) {
  blocks.moves_elements = false;
  blocks.inner = 1;
  return blocks;
}

bool has_kernel(const MxSpec& spec) { return spec.profile == Profile::exact; }

FastExponent fast_exponent(const MxSpec& spec) {
  return formats::fast_exponent(spec.rule, spec.top(), spec.lowest_exponent(),
                                spec.highest_exponent());
}

// For integers the first factor is 2^-X / 4, which is a float32 for every X from -128 to 127; the
// grid's to_integer makes up for the 4.
int down_shift(const MxSpec& spec) { return spec.minifloat ? 0 : -2; }
int up_shift(const MxSpec& spec) { return spec.minifloat ? 0 : -spec.fraction_bits(); }

void fill_factors(const MxSpec& spec, std::span<const TilePeak> peaks, TileFactors& factors) {
  const FastExponent exponent = fast_exponent(spec);
  float* const down = factors.of(kernels::mx_down);
  float* const up = factors.of(kernels::mx_up);
  for (std::size_t t = 0; t < peaks.size(); ++t) {
    const int x = exponent.of(peaks[t].largest);
    down[t] = double_power(down_shift(spec) - x);
    up[t] = peaks[t].nonfinite && spec.has_nan() ? quiet_nan : double_power(x + up_shift(spec));
  }
}

kernels::PowerRule block_rule(const MxSpec& spec) {
  return power_rule(scale_bits(spec.rule, spec.top()), spec.lowest_exponent(),
                    spec.highest_exponent(), down_shift(spec), up_shift(spec));
}

BlockKernel block_kernel(const MxSpec& spec, bool encodes, simd::Isa isa) {
  const kernels::MxGrid grid = mx_grid(spec.minifloat, spec.width);
  const kernels::MxKernels& kernels =
      grid.is_integer ? kernels::mx_integer_kernels(isa) : kernels::mx_minifloat_kernels(isa);
  const kernels::MxKernel kernel = (encodes ? kernels.codes : kernels.values)[spec.rounding];
  const kernels::PowerRule rule = block_rule(spec);
  const auto fill = [spec](std::span<const TilePeak> peaks, TileFactors& factors) {
    fill_factors(spec, peaks, factors);
  };
  return {
      kernels::mx_factor_count,
      fill,
      [grid, kernel](const kernels::Strip& strip, const TileFactors& factors) {
        kernel.on_strip(grid, strip, factors);
      },
      [grid, kernel, rule](const kernels::Runs& runs) { return kernel.on_runs(grid, rule, runs); },
      [grid, kernel, rule](const kernels::Strip& strip) {
        return kernel.on_columns(grid, rule, strip);
      },
      spec.seed};
}

kernels::MxReferenceGrid reference_grid(const MxSpec& spec) {
  kernels::MxReferenceGrid grid;
  grid.high = std::ldexp(1.0F, spec.width - 1);
  if (!spec.minifloat) return grid;
  const int bits = spec.minifloat->mantissa_bits();
  grid.to_fraction = std::ldexp(1.0F, bits - 15);
  grid.hidden = 1 << bits;
  grid.bias = spec.minifloat->exponent_bias;
  grid.top_code = (1 << spec.minifloat->exponent_width) - 1;
  grid.fraction_bits = bits;
  return grid;
}

kernels::MxReferenceStrip reference_kernel(const MxSpec& spec, simd::Isa isa) {
  const auto& kernels = kernels::mx_reference_kernels(isa);
  if (spec.minifloat) return kernels.minifloat;
  return spec.scale == MxScale::offset ? kernels.offset : kernels.integer;
}

void quantize_reference(const MxSpec& spec, const Tiling& tiling, std::span<const float> in,
                        std::span<float> out, simd::Isa isa) {
  const std::vector<float> peaks = tile_magnitudes(tiling, in, isa);
  const ReferenceMxExponent exponents(spec);
  const auto fill = [&](std::size_t first, std::size_t count, TileFactors& factors) {
    float* const down = factors.of(kernels::mx_reference_down);
    float* const up = factors.of(kernels::mx_reference_up);
    float* const nothing = factors.of(kernels::mx_reference_nothing);
    for (std::size_t t = 0; t < count; ++t) {
      const std::optional<int> exponent = exponents.of(peaks[first + t]);
      down[t] = float_power(exponent.value_or(0));
      up[t] = float_power(exponents.stored(exponent.value_or(0)));
      nothing[t] = exponent ? 0.0F : quiet_nan;
    }
  };
  quantize_blocks(tiling, in, out,
                  {kernels::mx_reference_factor_count, fill,
                   [grid = reference_grid(spec), run = reference_kernel(spec, isa)](
                       const kernels::Strip& strip, const TileFactors& factors) {
                     run(grid, strip, factors);
                   }});
}

// The argument of mx_block_exponent for every tile.
std::vector<float> magnitudes(const MxSpec& spec, const Tiling& tiling, std::span<const float> in,
                              std::span<const TilePeak> peaks) {
  const bool finite_only = !spec.has_nan() && spec.profile == Profile::exact;
  std::vector<float> found(peaks.size());
  for (std::size_t t = 0; t < peaks.size(); ++t)
    found[t] = peaks[t].nonfinite && !finite_only ? std::numeric_limits<float>::infinity()
                                                  : peaks[t].largest;
  if (!finite_only && first_nan(in, peaks) < in.size())
    for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
      if (std::isnan(in[i])) found[tile] = quiet_nan;
    });
  return found;
}

using Exponents = std::vector<std::optional<int>>;

Exponents exponents(const MxSpec& spec, const Tiling& tiling, std::span<const float> in,
                    std::span<const TilePeak> peaks) {
  Exponents all;
  all.reserve(peaks.size());
  for (const float p : magnitudes(spec, tiling, in, peaks))
    all.push_back(mx_block_exponent(spec, p));
  return all;
}

void refuse_nan_elements(const MxSpec& spec, std::span<const float> in, bool nonfinite,
                         std::string_view format) {
  // In profile reference, scales of few bits use every code for a number.
  if (spec.has_nan() && (spec.profile == Profile::exact || spec.scale_bits == 8)) return;
  if (!nonfinite) return;
  const std::size_t index = first_nan(in);
  if (index < in.size()) refuse_nan(index, format);
  // In profile reference, an infinity makes its block NaN.
  const auto bad = std::ranges::find_if(in, [](float x) { return std::isinf(x); });
  if (spec.has_nan() && bad != in.end())
    refuse_nan(static_cast<std::size_t>(bad - in.begin()), format);
}

// The scale codes of blocks from their peaks.
class ScaleCodes {
 public:
  ScaleCodes(const MxSpec& spec, const MxBlocks& blocks)
      : spec_(spec), exponent_(fast_exponent(spec)), packer_(blocks, spec.scale_bits) {}

  void add(std::span<const TilePeak> peaks) {
    nonfinite_ = nonfinite_ || any_nonfinite(peaks);
    codes_.resize(peaks.size());
    for (std::size_t t = 0; t < peaks.size(); ++t) codes_[t] = code(peaks[t]);
    packer_.append(codes_);
  }
  bool nonfinite() const { return nonfinite_; }
  PackedCodes finish() { return packer_.finish(); }

 private:
  std::uint32_t code(const TilePeak& peak) const {
    if (peak.nonfinite && spec_.has_nan()) return spec_.nan_code();
    return static_cast<std::uint32_t>(exponent_.of(peak.largest) + spec_.bias());
  }

  const MxSpec& spec_;
  FastExponent exponent_;
  ScalePacker packer_;
  std::vector<std::uint32_t> codes_;
  bool nonfinite_ = false;
};

std::vector<std::uint32_t> scale_codes(const MxSpec& spec, const Exponents& shared) {
  std::vector<std::uint32_t> codes;
  codes.reserve(shared.size());
  for (const auto& exponent : shared) codes.push_back(mx_scale_code(spec, exponent));
  return codes;
}

PackedCodes element_codes(const MxSpec& spec, const Tiling& tiling, std::span<const float> in,
                          const Exponents& shared) {
  std::vector<std::uint32_t> codes(in.size());
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    if (shared[tile]) codes[i] = encode_mx_scalar(spec, in[i], *shared[tile], i);
  });
  return pack_codes(codes, spec.width);
}

}  // namespace

std::vector<std::uint32_t> scales_last(const MxBlocks& blocks,
                                       std::span<const std::uint32_t> in_tile_order) {
  return moved(blocks, in_tile_order);
}

std::vector<std::uint32_t> scales_in_order(const MxBlocks& blocks,
                                           std::span<const std::uint32_t> stored) {
  return moved_back(blocks, stored);
}

ScalePacker::ScalePacker(const MxBlocks& blocks, int bits)
    : blocks_(blocks), packer_(bits, size_of(blocks.tiling.tiles())) {}

// In the tiles' order, codes of a line along the block axis are several places apart, and codes of
// neighbouring lines follow one another.
PackedCodes ScalePacker::finish() {
  PackedCodes in_order = packer_.finish();
  if (in_order.empty() || blocks_.axis == 1 || blocks_.inner == 1) return in_order;
  const std::size_t axis = size_of(blocks_.axis), inner = size_of(blocks_.inner);
  const std::size_t lines = in_order.size() / axis, most = std::max<std::size_t>(1, 8192 / axis);
  CodePacker last(in_order.bits(), in_order.size());
  std::vector<std::uint32_t> codes(most * axis), step(most);
  for (std::size_t line = 0, count = 0; line < lines; line += count) {
    count = std::min({most, lines - line, inner - line % inner});
    for (std::size_t a = 0; a < axis; ++a) {
      in_order.unpack((line / inner * axis + a) * inner + line % inner,
                      std::span(step).first(count));
      for (std::size_t l = 0; l < count; ++l) codes[l * axis + a] = step[l];
    }
    last.append(std::span(codes).first(count * axis));
  }
  return last.finish();
}

kernels::MxGrid mx_grid(const std::optional<MinifloatSpec>& minifloat, int width) {
  kernels::MxGrid grid;
  grid.is_integer = !minifloat;
  grid.to_integer = std::ldexp(1.0F, width);
  grid.limit = std::ldexp(1.0F, width - 1) - 1.0F;
  grid.code_mask = (1 << width) - 1;
  if (minifloat) {
    grid.minifloat = kernels::minifloat_grid(*minifloat);
    grid.minifloat_codes = kernels::minifloat_code_grid(*minifloat);
  }
  return grid;
}

void quantize_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                 std::span<float> out, simd::Isa isa) {
  if (blocks.moves_elements) {
    std::vector<float> work = moved(blocks, in);
    quantize_mx(spec, in_order(blocks), work, work, isa);
    std::ranges::copy(moved_back<float>(blocks, work), out.begin());
    return;
  }
  if (has_kernel(spec))
    return quantize_blocks(blocks.tiling, in, out, block_kernel(spec, false, isa), isa);
  quantize_reference(spec, blocks.tiling, in, out, isa);
}

DeviceQuantizer mx_on_device(const MxSpec& spec, const MxBlocks& blocks) {
  if (spec.profile == Profile::reference) return nullptr;
  auto tiles = device_tiles(blocks.tiling);
  if (!tiles) return nullptr;
  tiles->rule = {block_rule(spec), fast_exponent(spec), spec.lowest_exponent(),
                 down_shift(spec), up_shift(spec),      spec.has_nan()};
  const auto kernels =
      spec.minifloat ? &kernels::TileKernels::mx_minifloat : &kernels::TileKernels::mx_integer;
  return tile_quantizer(kernels, spec.rounding, mx_grid(spec.minifloat, spec.width), *tiles,
                        spec.seed);
}

Encoded encode_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                  std::string_view format) {
  if (blocks.moves_elements) {
    Encoded encoded = encode_mx(spec, in_order(blocks), moved(blocks, in), format);
    const std::vector<std::uint32_t> codes = encoded.codes.unpack();
    encoded.codes = pack_codes(moved_back<std::uint32_t>(blocks, codes), spec.width);
    return encoded;
  }
  if (has_kernel(spec)) {
    ScaleCodes scales(spec, blocks);
    PackedCodes codes =
        encode_blocks(blocks.tiling, in, block_kernel(spec, true, simd::best_isa()), spec.width,
                      [&](std::span<const TilePeak> peaks) { scales.add(peaks); });
    refuse_nan_elements(spec, in, scales.nonfinite(), format);
    return {std::move(codes), scales.finish(), {}};
  }
  const std::vector<TilePeak> peaks = tile_peaks(blocks.tiling, in);
  refuse_nan_elements(spec, in, any_nonfinite(peaks), format);
  const Exponents shared = exponents(spec, blocks.tiling, in, peaks);
  return {element_codes(spec, blocks.tiling, in, shared),
          pack_codes(scales_last(blocks, scale_codes(spec, shared)), spec.scale_bits),
          {}};
}

void decode_mx(const MxSpec& spec, const MxBlocks& blocks, const Encoded& in,
               std::span<float> out) {
  const std::size_t tiles = size_of(blocks.tiling.tiles());
  check_codes(in.codes, spec.width, out.size());
  check_codes(in.shared, spec.scale_bits, tiles);
  if (are_small_tables(spec.minifloat ? spec.width : 0, spec.scale_bits, out.size())) {
    const std::optional<Decoding> decoding = mx_decoding(spec, blocks);
    if (decoding && decoding->fits_float()) return decode_by_factors(*decoding, in, out);
  }
  std::vector<std::uint32_t> scales = in.shared.unpack();
  std::vector<std::uint32_t> codes;  // for moved elements, where windows do not work
  if (blocks.moves_elements)
    codes = moved<std::uint32_t>(blocks, in.codes.unpack());
  else
    scales = moved_back<std::uint32_t>(blocks, scales);
  if (spec.width > widest_decode_table && codes.empty()) codes = in.codes.unpack();
  const auto value = [&](std::uint32_t code, std::uint32_t scale) {
    return decode_mx_scalar(spec, code, scale);
  };
  if (spec.width <= widest_decode_table && !blocks.moves_elements)
    decode_by_pairs(blocks.tiling, CodeWindow(in.codes), spec.width, scales, spec.scale_bits, out,
                    value);
  else if (spec.width <= widest_decode_table)
    decode_by_pairs(blocks.tiling, CodeSpan(codes), spec.width, scales, spec.scale_bits, out,
                    value);
  else
    for_each_element(blocks.tiling, [&](std::size_t i, std::size_t tile) {
      out[i] = value(codes[i], scales[tile]);
    });
  if (blocks.moves_elements) std::ranges::copy(moved_back<float>(blocks, out), out.begin());
}

int last_dimension(const MxBlocks& blocks) {
  if (blocks.axis == 1 || blocks.inner == 1) return -1;
  const Shape counts = blocks.tiling.counts();
  std::int64_t outer = 1;
  int dimension = 0;
  for (; outer != blocks.outer || counts[size_of(dimension)] != blocks.axis; ++dimension)
    outer *= counts[size_of(dimension)];
  return dimension;
}

std::optional<Decoding> mx_decoding(const MxSpec& spec, const MxBlocks& blocks) {
  if (spec.profile == Profile::reference) return std::nullopt;
  Decoding decoding{.bits = spec.width, .tiling = blocks.tiling, .shared_bits = spec.scale_bits};
  if (spec.minifloat)
    decoding.elements =
        value_table(spec.width, [&](std::uint32_t code) { return mx_element(spec, code); });
  decoding.factors =
      value_table(spec.scale_bits, [&](std::uint32_t code) { return mx_factor(spec, code); });
  decoding.last_dimension = last_dimension(blocks);
  return decoding;
}

void saturates_mx(const MxSpec& spec, const MxBlocks& blocks, std::span<const float> in,
                  std::span<std::uint8_t> mask) {
  if (blocks.moves_elements) {
    std::vector<std::uint8_t> work(in.size());
    saturates_mx(spec, in_order(blocks), moved(blocks, in), work);
    std::ranges::copy(moved_back<std::uint8_t>(blocks, work), mask.begin());
    return;
  }
  const Exponents shared = exponents(spec, blocks.tiling, in, tile_peaks(blocks.tiling, in));
  std::vector<float> low(shared.size(), -largest_float), high(shared.size(), largest_float);
  for (std::size_t t = 0; t < shared.size(); ++t)
    if (shared[t]) {
      low[t] = quantize_mx_scalar(spec, -largest_float, *shared[t], 0);
      high[t] = quantize_mx_scalar(spec, largest_float, *shared[t], 0);
    }
  for_each_element(blocks.tiling, [&](std::size_t i, std::size_t tile) {
    mask[i] = in[i] < low[tile] || in[i] > high[tile];
  });
}

Range mx_range(const MxSpec& spec) {
  const double high = std::ldexp(spec.top().largest, spec.highest_exponent());
  return {-high, high};
}

double mx_bits(const MxSpec& spec, const MxBlocks& blocks) {
  const auto count = static_cast<double>(numel(blocks.tiling.shape));
  if (count == 0) return spec.width;
  return spec.width + spec.scale_bits * static_cast<double>(blocks.tiling.tiles()) / count;
}

}  // namespace mase::formats
