// SPDX-License-Identifier: Apache-2.0
// Block formats over whole tensors, by kernels or, where there are none, element by element.
#include "formats/block/block_elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "formats/block/block_kernels.hpp"
#include "formats/block/decode_table.hpp"
#include "formats/decode_spans.hpp"
#include "formats/encoding.hpp"

namespace mase::formats {

inline int TileScale::exponent(const BlockElements& elements, const TilePeak& peak) const {
  const auto u = std::bit_cast<std::uint32_t>(peak.largest);
  return bits.covers(u) ? std::clamp(bits.exponent(u), low, high) : elements.exponent(peak);
}

namespace {

std::vector<int> exponents_of(const BlockElements& elements, std::span<const TilePeak> peaks) {
  std::vector<int> exponents;
  exponents.reserve(peaks.size());
  const TileScale scale = elements.tile_scale();
  for (const TilePeak& peak : peaks) exponents.push_back(scale.exponent(elements, peak));
  return exponents;
}

// Shared codes count exponents modulo the number of codes; the packer cuts off higher bits.
class SharedCodes {
 public:
  SharedCodes(const BlockElements& elements, std::size_t tiles)
      : elements_(elements),
        scale_(elements.tile_scale()),
        zero_(elements.shared_code(0)),
        packer_(elements.shared_bits(), tiles) {}

  void add(std::span<const TilePeak> peaks) {
    nonfinite_ = nonfinite_ || any_nonfinite(peaks);
    codes_.resize(peaks.size());
    for (std::size_t t = 0; t < peaks.size(); ++t)
      codes_[t] = zero_ + static_cast<std::uint32_t>(scale_.exponent(elements_, peaks[t]));
    packer_.append(codes_);
  }
  bool nonfinite() const { return nonfinite_; }
  PackedCodes finish() { return packer_.finish(); }

 private:
  const BlockElements& elements_;
  TileScale scale_;
  std::uint32_t zero_;
  CodePacker packer_;
  std::vector<std::uint32_t> codes_;
  bool nonfinite_ = false;
};

PackedCodes element_codes(const BlockElements& elements, const Tiling& tiling,
                          std::span<const float> in, const SeePeaks& see) {
  if (const auto kernel = elements.code_kernel(simd::best_isa()))
    return encode_blocks(tiling, in, *kernel, elements.element_bits(), see);
  const std::vector<TilePeak> peaks = tile_peaks(tiling, in);
  const std::vector<int> exponents = exponents_of(elements, peaks);
  std::vector<std::uint32_t> codes(in.size());
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    if (std::isnan(in[i])) return;  // refused by the caller
    const int exponent = exponents[tile];
    const double value = elements.quantize(static_cast<double>(in[i]), exponent, i);
    codes[i] = elements.code(value, exponent);
  });
  see(peaks);
  return pack_codes(codes, elements.element_bits());
}

// The largest magnitude of every tile as in the reference system: NaN spreads, and tiles of zeros
// take the smallest magnitude of another tile.
std::vector<float> reference_peaks(std::vector<float> peaks) {
  if (std::ranges::find(peaks, 0.0F) == peaks.end()) return peaks;
  float smallest = std::numeric_limits<float>::infinity();
  bool any = false;
  for (const float peak : peaks)
    if (peak != 0.0F) {
      any = true;
      if (peak < smallest || std::isnan(peak)) smallest = peak;
    }
  for (float& peak : peaks)
    if (peak == 0.0F) peak = any ? smallest : 1.0F;
  return peaks;
}

double limit_of(const BlockElements& elements, const TilePeak& peak) {
  return elements.largest(elements.exponent(peak));
}

double limit_of(const BlockElements& elements, float reference_peak) {
  return std::isnan(reference_peak) ? std::numeric_limits<double>::infinity()
                                    : elements.largest(elements.reference_exponent(reference_peak));
}

template <class Peak>
void mark_beyond(const BlockElements& elements, const Tiling& tiling,
                 const std::vector<Peak>& peaks, std::span<const float> in,
                 std::span<std::uint8_t> mask) {
  std::vector<double> limits;
  limits.reserve(peaks.size());
  for (const Peak& peak : peaks) limits.push_back(limit_of(elements, peak));
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    mask[i] = std::abs(static_cast<double>(in[i])) > limits[tile];
  });
}

constexpr int widest_table = 16;

std::size_t codes_of_table(const BlockElements& elements) {
  return std::size_t{1} << elements.element_bits();
}

// The values for exponent 0 in double, times powers of two: numbers beyond double's range are 0 or
// infinite in float32, too.
void decode_by_table(const BlockElements& elements, const Tiling& tiling, const PackedCodes& packed,
                     std::span<const int> exponents, std::span<float> out) {
  CodeWindow codes(packed);
  std::vector<double> values(codes_of_table(elements)), scales;
  for (std::size_t code = 0; code < values.size(); ++code)
    values[code] = elements.value(static_cast<std::uint32_t>(code), 0);
  scales.reserve(exponents.size());
  for (const int exponent : exponents)
    scales.push_back(std::ldexp(1.0, std::clamp(exponent, -1000, 1000)));
  for_each_run(tiling, [&](std::size_t first, std::size_t count, std::size_t tile) {
    const double scale = scales[tile];
    decode_run(codes, first, count, out, [&values, scale](std::uint32_t code) {
      return static_cast<float>(values[code] * scale);
    });
  });
}

}  // namespace

int clamp_signed(int exponent, int bits) {
  return std::clamp(exponent, -(1 << (bits - 1)), (1 << (bits - 1)) - 1);
}

std::uint32_t signed_code(int exponent, int bits) {
  return static_cast<std::uint32_t>(exponent) & ((std::uint32_t{1} << bits) - 1);
}

int signed_value(std::uint32_t code, int bits) {
  const int value = static_cast<int>(code);
  return value < (1 << (bits - 1)) ? value : value - (1 << bits);
}

int highest_block_exponent(int bits) { return clamp_signed(128, bits); }

void TileScale::fill(const BlockElements& elements, std::span<const TilePeak> peaks,
                     kernels::TileFactors& factors) const {
  constexpr int widest = 126;  // one factor can hold this
  float* const down[] = {factors.of(0), factors.of(1)};
  float* const up[] = {factors.of(2), factors.of(3)};
  for (std::size_t t = 0; t < peaks.size(); ++t) {
    const int k = top - exponent(elements, peaks[t]);
    if (std::abs(k) > widest) {
      kernels::set_scale(factors, t, k);
      continue;
    }
    down[0][t] = std::bit_cast<float>((127 + k) << 23);
    up[0][t] = std::bit_cast<float>((127 - k) << 23);
    down[1][t] = up[1][t] = 1.0F;
  }
}

void BlockElements::fill_reference(int exponent, std::size_t tile,
                                   kernels::TileFactors& factors) const {
  factors.of(kernels::reference_top)[tile] = std::bit_cast<float>(exponent);
}

void quantize_block_scalar(const BlockElements& elements, const Tiling& tiling,
                           std::span<const float> in, std::span<float> out) {
  std::vector<int> exponents;
  for (const TilePeak& peak : tile_peaks_scalar(tiling, in))
    exponents.push_back(elements.exponent(peak));
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    out[i] = static_cast<float>(elements.quantize(static_cast<double>(in[i]), exponents[tile], i));
  });
}

void quantize_block(const BlockElements& elements, const Tiling& tiling, std::span<const float> in,
                    std::span<float> out) {
  if (const auto kernel = elements.kernel(simd::best_isa()))
    quantize_blocks(tiling, in, out, *kernel);
  else
    quantize_block_scalar(elements, tiling, in, out);
}

DeviceQuantizer block_on_device(const BlockElements& elements, const Tiling& tiling) {
  const auto tiles = device_tiles(tiling);
  return tiles ? elements.on_device(*tiles) : nullptr;
}

void quantize_block_reference_scalar(const BlockElements& elements, const Tiling& tiling,
                                     bool adds_zero, std::span<const float> in,
                                     std::span<float> out) {
  const std::vector<float> peaks = reference_peaks(tile_magnitudes_scalar(tiling, in));
  std::vector<int> exponents;
  exponents.reserve(peaks.size());
  for (const float peak : peaks)
    exponents.push_back(std::isnan(peak) ? 0 : elements.reference_exponent(peak));
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    out[i] = std::isnan(peaks[tile])
                 ? peaks[tile]
                 : elements.quantize_reference(in[i], exponents[tile], adds_zero);
  });
}

void quantize_block_reference(const BlockElements& elements, const Tiling& tiling, bool adds_zero,
                              std::span<const float> in, std::span<float> out, simd::Isa isa) {
  const std::vector<float> peaks = reference_peaks(tile_magnitudes(tiling, in, isa));
  const auto fill = [&](std::size_t first, std::size_t count, kernels::TileFactors& factors) {
    for (std::size_t t = 0; t < count; ++t) {
      const float peak = peaks[first + t];
      factors.of(kernels::reference_nothing)[t] = std::isnan(peak) ? peak : 0.0F;
      elements.fill_reference(std::isnan(peak) ? 0 : elements.reference_exponent(peak), t, factors);
    }
  };
  ReferenceBlock block = elements.reference_kernel(isa);
  block.grid.addend = adds_zero ? 0.0F : -0.0F;
  quantize_blocks(tiling, in, out,
                  {kernels::reference_zeta + 1, fill,
                   [&block](const kernels::Strip& strip, const kernels::TileFactors& factors) {
                     block.on_strip(block.grid, strip, factors);
                   }});
}

Encoded encode_block(const BlockElements& elements, const Tiling& tiling,
                     std::span<const float> in) {
  SharedCodes shared(elements, static_cast<std::size_t>(tiling.tiles()));
  PackedCodes codes = element_codes(elements, tiling, in,
                                    [&](std::span<const TilePeak> peaks) { shared.add(peaks); });
  const std::size_t nan = shared.nonfinite() ? first_nan(in) : in.size();
  if (nan < in.size()) refuse_nan(nan, elements.name());
  return {std::move(codes), shared.finish(), {}};
}

void decode_block(const BlockElements& elements, const Tiling& tiling, const Encoded& in,
                  std::span<float> out) {
  const auto tiles = static_cast<std::size_t>(tiling.tiles());
  check_codes(in.shared, elements.shared_bits(), tiles);
  check_codes(in.codes, elements.element_bits(), out.size());
  if (are_small_tables(elements.element_bits(), elements.shared_bits(), out.size())) {
    const std::optional<Decoding> decoding = block_decoding(elements, tiling);
    if (decoding && decoding->fits_float()) return decode_by_factors(*decoding, in, out);
  }
  std::vector<int> exponents;
  exponents.reserve(tiles);
  for (const std::uint32_t code : in.shared.unpack())
    exponents.push_back(elements.exponent_of_code(code));
  if (elements.element_bits() <= widest_table && out.size() >= codes_of_table(elements)) {
    decode_by_table(elements, tiling, in.codes, exponents, out);
    return;
  }
  const std::vector<std::uint32_t> codes = in.codes.unpack();
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    out[i] = static_cast<float>(elements.value(codes[i], exponents[tile]));
  });
}

std::optional<Decoding> block_decoding(const BlockElements& elements, const Tiling& tiling) {
  const int bits = elements.element_bits(), shared_bits = elements.shared_bits();
  if (std::max(bits, shared_bits) > widest_element_table) return std::nullopt;
  // Half of a power that float32 cannot hold goes to the elements.
  const int half = elements.highest_exponent() > 127 ? 1 : 0;
  Decoding decoding{.bits = bits, .tiling = tiling, .shared_bits = shared_bits};
  decoding.elements = value_table(
      bits, [&](std::uint32_t code) { return std::ldexp(elements.value(code, 0), half); });
  decoding.factors = value_table(shared_bits, [&](std::uint32_t code) {
    return std::ldexp(1.0, std::clamp(elements.exponent_of_code(code), -1000, 1000) - half);
  });
  return decoding;
}

void block_saturation(const BlockElements& elements, const Tiling& tiling, Profile profile,
                      std::span<const float> in, std::span<std::uint8_t> mask) {
  if (profile == Profile::reference)
    mark_beyond(elements, tiling, reference_peaks(tile_magnitudes(tiling, in)), in, mask);
  else
    mark_beyond(elements, tiling, tile_peaks(tiling, in), in, mask);
}

}  // namespace mase::formats
