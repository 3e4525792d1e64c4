// SPDX-License-Identifier: Apache-2.0
// Decodes whole tensors with kernels.
#include "formats/decode_spans.hpp"

#include <algorithm>
#include <array>

#include "formats/bands.hpp"
#include "formats/encoding.hpp"
#include "formats/value_kernel.hpp"

namespace mase::formats {
namespace {

using kernels::ValueSpan;

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

template <class T>
using Piece = std::array<T, code_piece + kernels::value_padding>;

// The element kernel of a decoding.
class Values {
 public:
  Values(std::vector<float> table, int bits, bool is_signed, simd::Isa isa)
      : kernels_(kernels::value_kernels(isa)),
        table_(std::move(table)),
        bits_(bits),
        sign_(is_signed ? std::int32_t{1} << (bits - 1) : 0) {}

  void write(const ValueSpan& span) const {
    if (table_.empty()) return kernels_.integers(sign_, span);
    kernels_.look_up[size_of(std::min(bits_, kernels::widest_value_table + 1) - 1)](table_.data(),
                                                                                    span);
  }

 private:
  const kernels::ValueKernels& kernels_;
  std::vector<float> table_;
  int bits_;
  std::int32_t sign_;
};

std::vector<float> floats_of(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// The factors of tiles in the tiles' order, some at a time.
class FactorWindow {
 public:
  FactorWindow(const Decoding& decoding, const Encoded& in)
      : shared_(in.shared),
        scales_(in.scales),
        table_(floats_of(decoding.factors)),
        per_tensor_(decoding.scales == Decoding::Scales::of_tensor),
        tiles_(size_of(decoding.tiling->tiles())) {
    const Shape counts = decoding.tiling->counts();
    if (decoding.last_dimension >= 0) place(counts, size_of(decoding.last_dimension));
    const std::size_t row = size_of(simplified(*decoding.tiling).counts().back());
    factors_.resize(std::min(tiles_, std::clamp(row, least, most)) + kernels::value_padding);
    codes_.resize(shared_.empty() ? 0 : factors_.size());
  }

  // The factors of `count` tiles from tile `first` on; at most a piece.
  const float* of(std::size_t first, std::size_t count) {
    if (first < begin_ || first + count > end_) fill(first);
    return factors_.data() + (first - begin_);
  }

 private:
  static constexpr std::size_t least = 4096, most = 65536;  // a row, if it is not too long

  void place(const Shape& counts, std::size_t dimension) {
    axis_ = size_of(counts[dimension]);
    for (std::size_t d = dimension + 1; d < counts.size(); ++d) inner_ *= size_of(counts[d]);
  }

  void fill(std::size_t first) {
    begin_ = first;
    end_ = std::min(tiles_, first + factors_.size() - kernels::value_padding);
    const std::span<float> factors = std::span(factors_).first(end_ - begin_);
    if (shared_.empty()) {
      std::copy_n(scales_.begin() + static_cast<std::ptrdiff_t>(first), factors.size(),
                  factors.begin());
      return;
    }
    const std::span<std::uint32_t> codes = std::span(codes_).first(factors.size());
    read(codes);
    for (std::size_t t = 0; t < codes.size(); ++t) factors[t] = table_[codes[t]];
    for (float& factor : factors.first(per_tensor_ ? factors.size() : 0)) factor *= scales_.front();
  }

  // Stored codes have the block axis last.
  void read(std::span<std::uint32_t> codes) const {
    for (std::size_t done = 0; done < codes.size();) {
      const std::size_t tile = begin_ + done, line = tile / inner_, at = tile % inner_;
      const std::size_t count =
          axis_ == 1 ? codes.size() : std::min(codes.size() - done, inner_ - at);
      const std::size_t stored = (line / axis_ * inner_ + at) * axis_ + line % axis_;
      shared_.unpack(stored, codes.subspan(done, count), axis_);
      done += count;
    }
  }

  const PackedCodes& shared_;
  std::span<const float> scales_;
  std::vector<float> table_;
  bool per_tensor_;
  std::size_t tiles_, axis_ = 1, inner_ = 1;
  std::vector<float> factors_;
  std::vector<std::uint32_t> codes_;
  std::size_t begin_ = 0, end_ = 0;
};

// The factors of elements in order, a piece at a time.
class ElementFactors {
 public:
  ElementFactors(const Decoding& decoding, const Encoded& in, simd::Isa isa)
      : spread_(kernels::value_kernels(isa).spread),
        tiling_(simplified(*decoding.tiling)),
        counts_(tiling_.counts()),
        row_(size_of(tiling_.shape.back())),
        tile_(size_of(tiling_.tile.back())),
        window_(decoding, in) {}

  // The number of elements in the piece at `first`: rows, or tiles of a row, or a part of a tile.
  std::size_t piece(std::size_t first) const {
    if (row_ <= code_piece) return code_piece / row_ * row_;
    const std::size_t wanted = tile_ < code_piece ? code_piece / tile_ * tile_ : code_piece;
    return std::min(wanted, row_ - first % row_);
  }

  // The factors of `count` elements from `first` on; valid until the next call.
  const float* of(std::size_t first, std::size_t count) {
    if (tile_ == 1 && count <= row_) return row_factors(first, count);
    for (std::size_t done = 0; done < count;) {
      const std::size_t part = std::min(count - done, row_ - (first + done) % row_);
      spread_(row_factors(first + done, part), (first + done) % row_ % tile_, tile_,
              factors_.data() + done, part);
      done += part;
    }
    return factors_.data();
  }

 private:
  // The factors of elements of one row.
  const float* row_factors(std::size_t first, std::size_t count) {
    const std::size_t column = first % row_;
    const std::size_t tile = column / tile_, end = (column + count + tile_ - 1) / tile_;
    return window_.of(first_tile(first / row_) + tile, end - tile);
  }

  // The first tile of a row.
  std::size_t first_tile(std::size_t row) const {
    std::size_t tile = 0, stride = size_of(counts_.back());
    for (std::size_t d = counts_.size() - 1; d-- > 0; stride *= size_of(counts_[d])) {
      tile += row % size_of(tiling_.shape[d]) / size_of(tiling_.tile[d]) * stride;
      row /= size_of(tiling_.shape[d]);
    }
    return tile;
  }

  void (*spread_)(const float*, std::size_t, std::size_t, float*, std::size_t);
  Tiling tiling_;
  Shape counts_;
  std::size_t row_, tile_;
  FactorWindow window_;
  alignas(64) Piece<float> factors_;
};

bool is_streamed(std::span<const float> out) { return out.size() >= simd::streaming_count; }

}  // namespace

void look_up_values(const PackedCodes& packed, std::vector<float> table, std::span<float> out) {
  const Values values(std::move(table), packed.bits(), false, simd::best_isa());
  alignas(64) Piece<std::uint32_t> codes{};
  for (std::size_t first = 0; first < out.size(); first += code_piece) {
    const std::size_t count = std::min(code_piece, out.size() - first);
    packed.unpack(first, std::span(codes).first(count));
    values.write({codes.data(), nullptr, out.data() + first, count, is_streamed(out)});
  }
  if (is_streamed(out)) simd::stream_fence();
}

bool are_small_tables(int bits, int shared_bits, std::size_t count) {
  const int most = std::max(bits, shared_bits);
  return most <= widest_element_table && count >> most > 0;
}

void decode_by_factors(const Decoding& decoding, const Encoded& in, std::span<float> out,
                       simd::Isa isa) {
  const Values values(floats_of(decoding.elements), decoding.bits, decoding.is_signed, isa);
  ElementFactors factors(decoding, in, isa);
  alignas(64) Piece<std::uint32_t> codes{};
  for (std::size_t first = 0, count = 0; first < out.size(); first += count) {
    count = std::min(factors.piece(first), out.size() - first);
    in.codes.unpack(first, std::span(codes).first(count));
    values.write(
        {codes.data(), factors.of(first, count), out.data() + first, count, is_streamed(out)});
  }
  if (is_streamed(out)) simd::stream_fence();
}

}  // namespace mase::formats
