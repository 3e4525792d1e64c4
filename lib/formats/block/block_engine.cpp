// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of block formats over the strips of a tensor.
#include "formats/block/block_engine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "formats/bands.hpp"

namespace mase::formats {
namespace {

using kernels::Runs;
using kernels::Strip;
using kernels::TileFactors;

constexpr std::int32_t infinity_bits = 0x7f800000;
// 32 KiB of input, which stays in the cache between the search for peaks and the writing.
constexpr std::size_t strip_elements = 8192;
// The same for floats and their codes.
constexpr std::size_t code_elements = 4096;
// Columns of each of several rows: memory delivers rows by the page, and reading and writing fewer
// columns at a time has half the speed.
constexpr std::size_t page_columns = 4096;

// The columns of a strip of about so many elements, in whole tiles.
std::size_t strip_columns(const Bands& bands, std::size_t elements) {
  const std::size_t wanted = bands.most_rows() > 1 ? page_columns : elements;
  const std::size_t tiles = std::max<std::size_t>(1, wanted / bands.tile());
  return std::min(bands.columns(), tiles * bands.tile());
}

// The distance from a strip of so many rows, at column `first`, to the next one; 0 when both
// outgrow the caches.
std::size_t ahead_of(const Bands& bands, std::size_t rows, std::size_t first, std::size_t columns) {
  constexpr std::size_t cached_elements = std::size_t{1} << 18;  // 1 MiB
  if (rows * columns > cached_elements) return 0;
  return first + columns < bands.columns() ? columns : rows * bands.columns() - first;
}

// Calls visit(strip, first tile) for all strips of a tensor; the caller sets the strip's `out`.
template <class Visit>
void for_each_strip(Bands& bands, const float* in, Visit&& visit) {
  const std::size_t columns = strip_columns(bands, strip_elements);
  for (std::size_t band = 0; band < bands.count(); ++band) {
    const std::vector<std::size_t>& rows = bands.rows(band);
    for (std::size_t first = 0; first < bands.columns(); first += columns)
      visit(Strip{in + first, nullptr, rows.data(), rows.size(),
                  std::min(columns, bands.columns() - first), bands.tile(), false, first, 0,
                  ahead_of(bands, rows.size(), first, columns)},
            band * bands.tiles_per_band() + first / bands.tile());
  }
}

std::size_t most_tiles(const Bands& bands) {
  return (strip_columns(bands, strip_elements) + bands.tile() - 1) / bands.tile();
}

void skip_columns(Strip& strip, std::size_t count) {
  strip.in += count;
  strip.out += count;
  strip.columns -= count;
  strip.index += count;
}

// Finds the peaks of one strip after another.
class PeakFinder {
 public:
  PeakFinder(simd::Isa isa, std::size_t tiles)
      : all_(kernels::peak_kernels(isa).all),
        finite_(kernels::peak_kernels(isa).finite),
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

// Writes one strip after another. The first one allocates memory, since runs may leave no strips.
class StripWriter {
 public:
  StripWriter(const BlockKernel& kernel, simd::Isa isa, std::size_t most_tiles)
      : kernel_(kernel), isa_(isa), most_tiles_(most_tiles) {}

  // Returns the tiles' peaks, which stay until the next call.
  std::span<const TilePeak> write(const Strip& strip) {
    if (!scratch_) scratch_.emplace(kernel_, isa_, most_tiles_);
    const auto peaks = std::span(scratch_->peaks).first(strip.tiles());
    scratch_->finder.find(strip, peaks);
    kernel_.factors(peaks, scratch_->factors);
    kernel_.elements(strip, scratch_->factors);
    return peaks;
  }

 private:
  struct Scratch {
    Scratch(const BlockKernel& kernel, simd::Isa isa, std::size_t tiles)
        : finder(isa, tiles), peaks(tiles), factors(kernel.factor_count, tiles) {}
    PeakFinder finder;
    std::vector<TilePeak> peaks;
    TileFactors factors;
  };
  const BlockKernel& kernel_;
  simd::Isa isa_;
  std::size_t most_tiles_;
  std::optional<Scratch> scratch_;
};

// Writes tiles of one row, when rows follow one another: by runs as far as possible, and by strips
// for tiles that runs do not cover.
class RowWriter {
 public:
  RowWriter(const BlockKernel& kernel, simd::Isa isa, const Bands& bands)
      : kernel_(kernel),
        row_(bands.columns()),
        tile_(bands.tile()),
        columns_(strip_columns(bands, strip_elements)),
        strips_(kernel, isa, most_tiles(bands)) {}

  // About `wanted` elements: how many there are from a tile's begin at `first` to a tile's end.
  std::size_t piece(std::size_t first, std::size_t wanted) const {
    if (row_ <= wanted) return wanted / row_ * row_;
    const std::size_t tiles = std::max<std::size_t>(1, wanted / tile_);
    return std::min(tiles * tile_, row_ - first % row_);
  }

  // Writes `count` elements from element `first` of the tensor on, where a tile begins. Unless
  // `peaks` is empty, stores the tiles' peaks at its front and removes that part from it.
  void write(const float* in, float* out, std::size_t first, std::size_t count, bool streaming,
             std::span<TilePeak>& peaks) {
    Runs runs{in, out, count, row_, tile_, first % row_, streaming, first, kernel_.seed, nullptr};
    if (!peaks.empty()) {
      bits_.resize(tiles_of(runs, count) + kernels::runs_padding);
      runs.peaks = bits_.data();
    }
    for (;;) {
      if (kernel_.runs) pass_runs(runs, peaks);
      if (runs.count == 0) return;
      pass_strips(runs, peaks);
    }
  }

 private:
  void pass_runs(Runs& runs, std::span<TilePeak>& peaks) {
    const std::size_t done = kernel_.runs(runs);
    if (runs.peaks) {
      const std::size_t tiles = tiles_of(runs, done);
      for (std::size_t t = 0; t < tiles; ++t) peaks[t] = {std::bit_cast<float>(bits_[t]), false};
      peaks = peaks.subspan(tiles);
    }
    advance(runs, done);
  }
  void pass_strips(Runs& runs, std::span<TilePeak>& peaks) {
    constexpr std::size_t here = 0;
    for (std::size_t done = 0; runs.count > 0 && done < columns_;) {
      const std::size_t count = std::min({runs.count, row_ - runs.column, columns_});
      const auto found = strips_.write(
          {runs.in, runs.out, &here, 1, count, tile_, runs.streaming, runs.index, runs.seed});
      if (runs.peaks) {
        std::copy(found.begin(), found.end(), peaks.begin());
        peaks = peaks.subspan(found.size());
      }
      advance(runs, count);
      done += count;
    }
  }
  void advance(Runs& runs, std::size_t count) const {
    runs.in += count;
    runs.out += count;
    runs.count -= count;
    runs.index += count;
    runs.column = (runs.column + count) % row_;
  }
  // The number of tiles in the first `count` elements.
  std::size_t tiles_of(const Runs& runs, std::size_t count) const {
    return kernels::tiles_before(runs.column + count, row_, tile_) -
           kernels::tiles_before(runs.column, row_, tile_);
  }

  const BlockKernel& kernel_;
  std::size_t row_, tile_, columns_;
  StripWriter strips_;
  std::vector<std::int32_t> bits_;
};

// Encodes tiles of one row: peaks and codes of a piece at a time.
PackedCodes encode_in_order(const Bands& bands, std::span<const float> in,
                            const BlockKernel& kernel, int bits, const SeePeaks& see,
                            simd::Isa isa) {
  RowWriter writer(kernel, isa, bands);
  CodePacker packer(bits, in.size());
  std::vector<TilePeak> peaks(code_elements);
  std::vector<std::uint32_t> codes;
  for (std::size_t first = 0, count = 0; first < in.size(); first += count) {
    count = std::min(writer.piece(first, code_elements), in.size() - first);
    codes.resize(std::max(codes.size(), count));
    std::span<TilePeak> next(peaks);
    writer.write(in.data() + first, reinterpret_cast<float*>(codes.data()), first, count, false,
                 next);
    see(std::span(peaks).first(peaks.size() - next.size()));
    packer.append(std::span(codes).first(count));
  }
  return packer.finish();
}

// Encodes tiles of several rows. Codes are written in the elements' order, row by row, while the
// rows that share their tiles are in the cache.
class RowsEncoder {
 public:
  RowsEncoder(const Tiling& tiling, std::span<const float> in, const BlockKernel& kernel, int bits,
              const SeePeaks& see, simd::Isa isa)
      : tiling_(simplified(tiling)),
        row_tiles_(tiling_.row_tiles()),
        in_(in),
        kernel_(kernel),
        see_(see),
        isa_(isa),
        packer_(bits, in.size()),
        length_(static_cast<std::size_t>(tiling_.shape.back())),
        tile_(static_cast<std::size_t>(tiling_.tile.back())),
        columns_(std::min(length_, std::max<std::size_t>(1, strip_elements / tile_) * tile_)),
        codes_(columns_),
        factors_((length_ + columns_ - 1) / columns_,
                 TileFactors(kernel.factor_count, (columns_ + tile_ - 1) / tile_)) {
    if (!is_in_order()) see_(peaks_ = tile_peaks(tiling_, in_, isa_));
  }

  PackedCodes encode() {
    for (std::size_t row = 0, count = 0; row < row_tiles_.size(); row += count) {
      count = rows_from(row);
      find_factors(row, count);
      for (std::size_t r = row; r < row + count; ++r) write(r);
    }
    return packer_.finish();
  }

 private:
  // True when the rows of each tile follow one another, so that peaks can be found when needed.
  bool is_in_order() const {
    const auto leading = std::span(tiling_.tile).first(std::max<std::size_t>(2, rank()) - 2);
    return std::ranges::all_of(leading, [](std::int64_t tile) { return tile == 1; });
  }
  std::size_t rank() const { return tiling_.tile.size(); }

  // The number of rows from this one on that share its tiles.
  std::size_t rows_from(std::size_t row) const {
    const auto begin = row_tiles_.begin() + static_cast<std::ptrdiff_t>(row);
    const auto end =
        std::find_if(begin, row_tiles_.end(), [&](auto tile) { return tile != *begin; });
    return static_cast<std::size_t>(end - begin);
  }

  void find_factors(std::size_t row, std::size_t count) {
    std::vector<TilePeak> found;
    std::span<const TilePeak> peaks;
    if (peaks_.empty()) {
      const auto rows = static_cast<std::int64_t>(count);
      const Tiling band{{rows, tiling_.shape.back()}, {rows, tiling_.tile.back()}};
      peaks = found = tile_peaks(band, in_.subspan(row * length_, count * length_), isa_);
      see_(peaks);
    } else {
      peaks = std::span(peaks_).subspan(static_cast<std::size_t>(row_tiles_[row]));
    }
    for (std::size_t p = 0; p < factors_.size(); ++p) {
      const std::size_t tiles = (std::min(columns_, length_ - p * columns_) + tile_ - 1) / tile_;
      kernel_.factors(peaks.subspan(p * columns_ / tile_, tiles), factors_[p]);
    }
  }

  void write(std::size_t row) {
    constexpr std::size_t here = 0;
    for (std::size_t p = 0; p < factors_.size(); ++p) {
      const std::size_t index = row * length_ + p * columns_;
      const std::size_t count = std::min(columns_, length_ - p * columns_);
      kernel_.elements({in_.data() + index, reinterpret_cast<float*>(codes_.data()), &here, 1,
                        count, tile_, false, index, kernel_.seed},
                       factors_[p]);
      packer_.append(std::span(codes_).first(count));
    }
  }

  Tiling tiling_;
  std::vector<std::int64_t> row_tiles_;
  std::span<const float> in_;
  const BlockKernel& kernel_;
  const SeePeaks& see_;
  simd::Isa isa_;
  CodePacker packer_;
  std::size_t length_, tile_, columns_;
  std::vector<std::uint32_t> codes_;
  std::vector<TilePeak> peaks_;       // peaks of all tiles, unless they are in order
  std::vector<TileFactors> factors_;  // factors of the row's pieces of `columns_` columns
};

}  // namespace

std::vector<TilePeak> tile_peaks(const Tiling& tiling, std::span<const float> in, simd::Isa isa) {
  std::vector<TilePeak> peaks(static_cast<std::size_t>(tiling.tiles()));
  if (in.empty()) return peaks;
  Bands bands(tiling);
  PeakFinder finder(isa, most_tiles(bands));
  for_each_strip(bands, in.data(), [&](const Strip& strip, std::size_t first) {
    finder.find(strip, std::span(peaks).subspan(first, strip.tiles()));
  });
  return peaks;
}

std::vector<float> tile_magnitudes(const Tiling& tiling, std::span<const float> in, simd::Isa isa) {
  std::vector<float> found(static_cast<std::size_t>(tiling.tiles()));
  if (in.empty()) return found;
  Bands bands(tiling);
  std::vector<std::int32_t> bits(most_tiles(bands));
  for_each_strip(bands, in.data(), [&](const Strip& strip, std::size_t first) {
    kernels::peak_kernels(isa).all(strip, bits.data());
    for (std::size_t t = 0; t < strip.tiles(); ++t)
      found[first + t] = std::bit_cast<float>(bits[t]);
  });
  return found;
}

void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const KnownBlocks& blocks, std::size_t streaming_from) {
  if (in.empty()) return;
  Bands bands(tiling);
  const bool streaming = in.size() >= streaming_from && in.data() != out.data();
  TileFactors factors(blocks.factor_count, most_tiles(bands));
  for_each_strip(bands, in.data(), [&](Strip strip, std::size_t first) {
    strip.out = out.data() + (strip.in - in.data());
    strip.streaming = streaming;
    blocks.factors(first, strip.tiles(), factors);
    blocks.elements(strip, factors);
  });
  if (streaming) simd::stream_fence();
}

void quantize_blocks(const Tiling& tiling, std::span<const float> in, std::span<float> out,
                     const BlockKernel& kernel, simd::Isa isa, std::size_t streaming_from) {
  if (in.empty()) return;
  Bands bands(tiling);
  const bool streaming = in.size() >= streaming_from && in.data() != out.data();
  std::span<TilePeak> no_peaks;
  if (bands.most_rows() == 1) {
    RowWriter(kernel, isa, bands).write(in.data(), out.data(), 0, in.size(), streaming, no_peaks);
  } else {
    StripWriter writer(kernel, isa, most_tiles(bands));
    for_each_strip(bands, in.data(), [&](Strip strip, std::size_t) {
      strip.out = out.data() + (strip.in - in.data());
      strip.streaming = streaming;
      strip.seed = kernel.seed;
      if (kernel.columns) skip_columns(strip, kernel.columns(strip));
      if (strip.columns > 0) writer.write(strip);
    });
  }
  if (streaming) simd::stream_fence();
}

PackedCodes encode_blocks(const Tiling& tiling, std::span<const float> in,
                          const BlockKernel& kernel, int bits, const SeePeaks& see, simd::Isa isa) {
  if (in.empty()) {
    see(std::vector<TilePeak>(static_cast<std::size_t>(tiling.tiles())));
    return {{}, bits, 0};
  }
  const Bands bands(tiling);
  if (bands.most_rows() == 1) return encode_in_order(bands, in, kernel, bits, see, isa);
  return RowsEncoder(tiling, in, kernel, bits, see, isa).encode();
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

std::vector<float> tile_magnitudes_scalar(const Tiling& tiling, std::span<const float> in) {
  std::vector<float> peaks(static_cast<std::size_t>(tiling.tiles()));
  for_each_element(tiling, [&](std::size_t i, std::size_t tile) {
    float& peak = peaks[tile];
    const float magnitude = std::abs(in[i]);
    if (magnitude > peak || std::isnan(magnitude)) peak = magnitude;
  });
  return peaks;
}

bool any_nonfinite(std::span<const TilePeak> peaks) {
  return std::ranges::any_of(peaks, [](const TilePeak& peak) { return peak.nonfinite; });
}

std::size_t first_nan(std::span<const float> in) {
  const auto found = std::find_if(in.begin(), in.end(), [](float x) { return std::isnan(x); });
  return static_cast<std::size_t>(found - in.begin());
}

std::size_t first_nan(std::span<const float> in, std::span<const TilePeak> peaks) {
  return any_nonfinite(peaks) ? first_nan(in) : in.size();
}

}  // namespace mase::formats
