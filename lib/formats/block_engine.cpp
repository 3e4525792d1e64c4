// Driving the kernels of block formats over the strips of a tensor.
#include "formats/block_engine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "formats/bands.hpp"

namespace mase::formats {
namespace {

using kernels::Strip;
using kernels::TileFactors;

constexpr std::int32_t infinity_bits = 0x7f800000;
// 32 KiB of input: peaks and elements of a strip both find it in the cache.
constexpr std::size_t strip_elements = 8192;
// The same for floats and their codes.
constexpr std::size_t code_strip_elements = 4096;
// Below this the rows of tall tiles would be read in too small pieces; the tallest outgrow the
// cache anyway, and whole pages of them are read faster.
constexpr std::size_t fewest_columns = 256, page_columns = 1024, tallest_cached = 512;

// Columns of a strip of about so many elements: whole tiles.
std::size_t strip_columns(const Bands& bands, std::size_t elements) {
  const std::size_t least = bands.most_rows() > tallest_cached ? page_columns : fewest_columns;
  const std::size_t wanted = std::max(least, elements / bands.most_rows());
  const std::size_t tiles = std::max<std::size_t>(1, wanted / bands.tile());
  return std::min(bands.columns(), tiles * bands.tile());
}

// Calls visit(strip, first tile) for all strips of a tensor; the strip's `out` is for the caller.
template <class Visit>
void for_each_strip(const Tiling& tiling, const float* in, Visit&& visit,
                    std::size_t elements = strip_elements) {
  Bands bands(tiling);
  if (bands.columns() == 0) return;
  const std::size_t columns = strip_columns(bands, elements);
  for (std::size_t band = 0; band < bands.count(); ++band) {
    const std::vector<std::size_t>& rows = bands.rows(band);
    for (std::size_t first = 0; first < bands.columns(); first += columns)
      visit(Strip{in + first, nullptr, rows.data(), rows.size(),
                  std::min(columns, bands.columns() - first), bands.tile(), false},
            band * bands.tiles_per_band() + first / bands.tile());
  }
}

std::size_t most_tiles(const Tiling& tiling) {
  const Bands bands(tiling);
  return (strip_columns(bands, strip_elements) + bands.tile() - 1) / bands.tile();
}

// Finds the peaks of one strip after another.
class PeakFinder {
 public:
  PeakFinder(kernels::Isa isa, std::size_t tiles)
      : all_(kernels::peak_kernel(isa, false)),
        finite_(kernels::peak_kernel(isa, true)),
        bits_(tiles),
        finite_bits_(tiles) {}

  void find(const Strip& strip, std::span<TilePeak> peaks) {
    all_(strip, bits_.data());
    std::int32_t largest = 0;
    for (std::size_t t = 0; t < peaks.size(); ++t) {
      largest = std::max(largest, bits_[t]);
      peaks[t] = {std::bit_cast<float>(bits_[t]), false};
    }
    if (largest >= infinity_bits) mend(strip, peaks);
  }

 private:
  void mend(const Strip& strip, std::span<TilePeak> peaks) {
    finite_(strip, finite_bits_.data());
    for (std::size_t t = 0; t < peaks.size(); ++t)
      peaks[t] = {std::bit_cast<float>(finite_bits_[t]), bits_[t] >= infinity_bits};
  }

  kernels::PeakKernel all_, finite_;
  std::vector<std::int32_t> bits_, finite_bits_;
};

// Lets the kernel do what it can in one go; returns what is left of the strip.
Strip after_runs(Strip strip, const BlockKernel& kernel) {
  if (strip.row_count != 1 || !kernel.runs) return strip;
  const std::size_t row = strip.rows[0];
  const std::size_t done =
      strip.tile * kernel.runs({strip.in + row, strip.out + row, strip.columns / strip.tile,
                                strip.tile, strip.streaming});
  strip.in += done;
  strip.out += done;
  strip.columns -= done;
  return strip;
}

// Tiles of one row: peaks and codes of a strip at a time.
BlockCodes encode_in_order(const Tiling& tiling, std::span<const float> in,
                           const BlockKernel& kernel, int bits, kernels::Isa isa) {
  const std::size_t most = most_tiles(tiling);
  PeakFinder finder(isa, most);
  TileFactors factors(kernel.factor_count, most);
  CodePacker packer(bits, in.size());
  std::vector<TilePeak> peaks(static_cast<std::size_t>(tiling.tiles()));
  std::vector<std::uint32_t> codes(strip_columns(Bands(tiling), code_strip_elements));
  const auto encode = [&](Strip strip, std::size_t first) {
    constexpr std::size_t here = 0;
    const auto own = std::span(peaks).subspan(first, strip.tiles());
    const std::size_t count = strip.columns;
    finder.find(strip, own);
    strip.in += strip.rows[0];
    strip.rows = &here;
    strip.out = reinterpret_cast<float*>(codes.data());
    strip = after_runs(strip, kernel);
    if (strip.columns > 0) {
      kernel.factors(own.last(strip.tiles()), factors);
      kernel.elements(strip, factors);
    }
    packer.append(std::span(codes).first(count));
  };
  for_each_strip(tiling, in.data(), encode, code_strip_elements);
  return {packer.finish(), std::move(peaks)};
}

// Tiles of several rows, whose codes are written in the elements' order: row by row.
PackedCodes encode_rows(const Tiling& tiling, std::span<const float> in,
                        std::span<const TilePeak> peaks, const BlockKernel& kernel, int bits) {
  CodePacker packer(bits, in.size());
  const Tiling simple = simplified(tiling);
  const auto length = static_cast<std::size_t>(simple.shape.back());
  const auto tile = static_cast<std::size_t>(simple.tile.back());
  const std::size_t columns =
      std::min(length, std::max<std::size_t>(1, strip_elements / tile) * tile);
  std::vector<std::uint32_t> codes(columns);
  TileFactors factors(kernel.factor_count, (columns + tile - 1) / tile);
  constexpr std::size_t here = 0;
  const float* next = in.data();
  std::size_t known = peaks.size();  // the first tile whose factors are there
  for (const std::int64_t row : simple.row_tiles())
    for (std::size_t first = 0; first < length; first += columns) {
      const std::size_t count = std::min(columns, length - first);
      const Strip strip{next, reinterpret_cast<float*>(codes.data()), &here, 1, count, tile, false};
      const std::size_t first_tile = static_cast<std::size_t>(row) + first / tile;
      if (first_tile != known) kernel.factors(peaks.subspan(first_tile, strip.tiles()), factors);
      known = first_tile;
      kernel.elements(strip, factors);
      packer.append(std::span(codes).first(count));
      next += count;
    }
  return packer.finish();
}

}  // namespace

std::vector<TilePeak> tile_peaks(const Tiling& tiling, std::span<const float> in,
                                 kernels::Isa isa) {
  std::vector<TilePeak> peaks(static_cast<std::size_t>(tiling.tiles()));
  if (in.empty()) return peaks;
  PeakFinder finder(isa, most_tiles(tiling));
  for_each_strip(tiling, in.data(), [&](const Strip& strip, std::size_t first) {
    finder.find(strip, std::span(peaks).subspan(first, strip.tiles()));
  });
  return peaks;
}

void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const BlockKernel& kernel, kernels::Isa isa, std::size_t streaming_from) {
  if (in.empty()) return;
  const std::size_t tiles = most_tiles(tiling);
  PeakFinder finder(isa, tiles);
  std::vector<TilePeak> peaks(tiles);
  TileFactors factors(kernel.factor_count, tiles);
  const bool streaming = in.size() >= streaming_from && in.data() != out.data();
  for_each_strip(tiling, in.data(), [&](Strip strip, std::size_t) {
    strip.out = out.data() + (strip.in - in.data());
    strip.streaming = streaming;
    strip = after_runs(strip, kernel);
    const auto own = std::span(peaks).first(strip.tiles());
    finder.find(strip, own);
    kernel.factors(own, factors);
    kernel.elements(strip, factors);
  });
  if (streaming) kernels::stream_fence();
}

BlockCodes encode_blocks(const Tiling& tiling, std::span<const float> in, const BlockKernel& kernel,
                         int bits, kernels::Isa isa) {
  if (in.empty())
    return {PackedCodes({}, bits, 0),
            std::vector<TilePeak>(static_cast<std::size_t>(tiling.tiles()))};
  if (Bands(tiling).most_rows() == 1) return encode_in_order(tiling, in, kernel, bits, isa);
  std::vector<TilePeak> peaks = tile_peaks(tiling, in, isa);
  return {encode_rows(tiling, in, peaks, kernel, bits), std::move(peaks)};
}

std::vector<TilePeak> tile_peaks_scalar(const Tiling& tiling, std::span<const float> in) {
  std::vector<TilePeak> peaks(static_cast<std::size_t>(tiling.tiles()));
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    if (std::isfinite(in[i]))
      peaks[tile].largest = std::max(peaks[tile].largest, std::abs(in[i]));
    else
      peaks[tile].nonfinite = true;
  });
  return peaks;
}

std::size_t first_nan(std::span<const float> in, std::span<const TilePeak> peaks) {
  const bool clean =
      std::none_of(peaks.begin(), peaks.end(), [](const TilePeak& peak) { return peak.nonfinite; });
  if (clean) return in.size();
  const auto found = std::find_if(in.begin(), in.end(), [](float x) { return std::isnan(x); });
  return static_cast<std::size_t>(found - in.begin());
}

}  // namespace mase::formats
