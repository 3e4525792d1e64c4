// SPDX-License-Identifier: Apache-2.0
// The kernels on narrow codes.
#include "hardware/integer/running/kernels/kernels.hpp"
#include "simd/pairs.hpp"

namespace mase::integer::kernels {
namespace {

using namespace simd;

constexpr std::size_t lanes = Simd::width;
/// Rows of a register tile, which has two vectors of sums for each.
constexpr int tile_rows = Simd::width / 2;

template <int rows, int vectors>
MASE_SIMD_TARGET void tile(const MatrixJob& job, std::size_t row, std::size_t block) {
  Simd::Bits sums[rows][vectors];
  for (int v = 0; v < vectors; ++v)
    for (int r = 0; r < rows; ++r) sums[r][v] = Simd::load_bits(job.bias + (block + v) * lanes);
  const std::size_t block_size = job.segments * job.pairs * lanes * 2;
  const std::int16_t* weight = job.weights + block * block_size;
  const std::int16_t* first = job.in + static_cast<std::ptrdiff_t>(row) * job.row_stride;
  for (std::size_t s = 0; s < job.segments; ++s) {
    const std::int16_t* in = first + job.offsets[s];
    for (std::size_t p = 0; p < job.pairs; ++p, in += 2, weight += 2 * lanes) {
      Pairs weights[vectors];
      for (int v = 0; v < vectors; ++v) weights[v] = load_pairs(weight + v * block_size);
      for (int r = 0; r < rows; ++r) {
        const Pairs pair = same_pair(in + r * job.row_stride);
        for (int v = 0; v < vectors; ++v) sums[r][v] = add_products(sums[r][v], pair, weights[v]);
      }
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      Simd::store_bits(job.accumulators + (row + r) * job.outputs + (block + v) * lanes,
                       sums[r][v]);
}

template <int vectors>
MASE_SIMD_TARGET void blocks_of_rows(const MatrixJob& job, std::size_t block) {
  constexpr int most = tile_rows;
  std::size_t row = 0;
  for (; row + most <= job.rows; row += most) tile<most, vectors>(job, row, block);
  for (; row + 2 <= job.rows; row += 2) tile<2, vectors>(job, row, block);
  for (; row < job.rows; ++row) tile<1, vectors>(job, row, block);
}

MASE_SIMD_TARGET void matrix(const MatrixJob& job) {
  const std::size_t blocks = job.outputs / lanes;
  std::size_t block = 0;
  for (; block + 2 <= blocks; block += 2) blocks_of_rows<2>(job, block);
  for (; block < blocks; ++block) blocks_of_rows<1>(job, block);
}

MASE_SIMD std::int32_t clamped(std::int32_t code, std::int32_t low, std::int32_t high) {
  code = code < low ? low : code;
  return code > high ? high : code;
}

/// Exact for any divisor: floor division, then one more where the rest rounds up.
template <class Out>
MASE_SIMD_TARGET void divide(const Requantise32& requantise, const std::int32_t* in, Out* out,
                             std::size_t count) {
  const std::int64_t denominator = requantise.divisor << requantise.shift;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t numerator =
        static_cast<std::int64_t>(in[i]) * (std::int64_t{1} << requantise.left);
    std::int64_t code = numerator / denominator, rest = numerator % denominator;
    if (rest < 0) {
      --code;
      rest += denominator;
    }
    const bool tie_up = requantise.away ? numerator >= 0 : (code & 1) != 0;
    const bool up = rest > denominator - rest || (rest == denominator - rest && tie_up);
    if (!requantise.floor && up) ++code;
    code = code < requantise.low ? requantise.low : code;
    out[i] = static_cast<Out>(code > requantise.high ? requantise.high : code);
  }
}

/// Nearest even: adding half less one, and one more when the floor is odd, carries into the result
/// exactly when the rest is above half, or half below an odd floor. Away from 0: half less one, and
/// one more where the number is not negative.
template <class Out>
MASE_SIMD_TARGET void requantise_to(const Requantise32& requantise, const std::int32_t* in,
                                    Out* out, std::size_t count) {
  const std::int32_t low = requantise.low, high = requantise.high;
  const int shift = requantise.shift, left = requantise.left;
  if (requantise.divisor != 1) {
    divide(requantise, in, out, count);
  } else if (shift == 0) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(clamped(in[i] * (1 << left), low, high));
  } else if (requantise.floor) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(clamped(in[i] >> shift, low, high));
  } else if (requantise.away) {
    const std::int32_t half = 1 << (shift - 1);
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(clamped((in[i] + half + (in[i] >> 31)) >> shift, low, high));
  } else {
    const std::int32_t half_less_one = (1 << (shift - 1)) - 1;
    for (std::size_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(
          clamped((in[i] + half_less_one + ((in[i] >> shift) & 1)) >> shift, low, high));
  }
}

MASE_SIMD_TARGET void requantise_to_16(const Requantise32& requantise, const std::int32_t* in,
                                       std::int16_t* out, std::size_t count) {
  requantise_to(requantise, in, out, count);
}

MASE_SIMD_TARGET void requantise_to_32(const Requantise32& requantise, const std::int32_t* in,
                                       std::int32_t* out, std::size_t count) {
  requantise_to(requantise, in, out, count);
}

MASE_SIMD_TARGET void widen(const std::int16_t* in, std::int32_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
}

MASE_SIMD_TARGET void maximum(const std::int16_t* in, std::int32_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = out[i] < in[i] ? in[i] : out[i];
}

MASE_SIMD_TARGET void add(const std::int16_t* in, std::int32_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] += in[i];
}

MASE_SIMD_TARGET void multiply_add(const std::int16_t* a, const std::int16_t* b, std::int32_t* out,
                                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] += static_cast<std::int32_t>(a[i]) * static_cast<std::int32_t>(b[i]);
}

}  // namespace

const KernelTable MASE_KERNELS_OF(kernel_tables){
    lanes, matrix, requantise_to_16, requantise_to_32, widen, maximum, add, multiply_add};

}  // namespace mase::integer::kernels
