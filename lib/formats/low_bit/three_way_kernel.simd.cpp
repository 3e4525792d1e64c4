// SPDX-License-Identifier: Apache-2.0
// The kernels of formats of two or three values.
#include <array>
#include <bit>

#include "formats/low_bit/three_way_op.hpp"
#include "simd/code_loop.hpp"
#include "simd/span_loop.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

MASE_SIMD_TARGET void run_quantize(const ThreeWay& values, const float* in, float* out,
                                   std::size_t count, bool stream) {
  if (values.keeps_nan)
    apply(ToValue<true>::of(values), in, out, count, stream);
  else
    apply(ToValue<false>::of(values), in, out, count, stream);
}

MASE_SIMD_TARGET void run_drawn(const ThreeWay& values, const float* in, const float* offsets,
                                float* out, std::size_t count) {
  const ToDrawnValue op = ToDrawnValue::of(values);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store(out + i, op(Simd::load(in + i), Simd::load(offsets + i)));
}

MASE_SIMD_TARGET void run_drawn_encode(const float* in, const float* offsets, std::uint32_t* codes,
                                       std::size_t count) {
  auto* to = reinterpret_cast<std::int32_t*>(codes);
  for (std::size_t i = 0; i < count; i += Simd::width)
    Simd::store_bits(
        to + i, Simd::nearest_integer(drawn_sign(Simd::load(in + i), Simd::load(offsets + i))));
}

struct ToThreeWayCode {
  ToValue<false> codes;  ///< floats with the codes' bits
  MASE_SIMD Simd::Bits operator()(Simd::Vec x) const { return Simd::bits(codes(x)); }
};

MASE_SIMD_TARGET bool run_encode(const ThreeWay& values, const float* in, std::uint32_t* codes,
                                 std::size_t count) {
  const auto code = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const ThreeWay as_codes{values.above, values.below, code(1), code(0), code(3), false};
  return encode_span(ToThreeWayCode{ToValue<false>::of(as_codes)}, in, codes, count);
}

struct FromThreeWayCode {
  Simd::Bits high, mid, low;
  MASE_SIMD Simd::Vec operator()(Simd::Bits code) const {
    const Simd::Bits not_low = Simd::select_less_bits(Simd::all_bits(0), code, high, mid);
    return Simd::floats(Simd::select_less_bits(Simd::all_bits(1), code, low, not_low));
  }
};

MASE_SIMD_TARGET void run_decode(const ThreeWay& values, const std::uint32_t* codes, float* out,
                                 std::size_t count) {
  const auto bits = [](float value) { return std::bit_cast<std::int32_t>(value); };
  decode_span(FromThreeWayCode{Simd::all_bits(bits(values.high)), Simd::all_bits(bits(values.mid)),
                               Simd::all_bits(bits(values.low))},
              codes, out, count);
}

constexpr std::size_t lanes = 16, lane_vectors = lanes / Simd::width;

/// The sums of the 16 lanes, and the number of elements in them.
struct LaneSums {
  Simd::Wide sums[lane_vectors];
  Simd::Bits counts;

  MASE_SIMD void add(const float* in, Simd::Bits above) {
    const Simd::Bits none = Simd::all_bits(0), one = Simd::all_bits(1);
    const Simd::Bits infinity = Simd::all_bits(infinity_bits);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < lane_vectors; ++k) {
      const Simd::Bits x = magnitude_bits(Simd::load(in + k * Simd::width));
      const Simd::Bits taken = Simd::select_less_bits(
          above, x, Simd::select_less_bits(x, infinity, Simd::all_bits(-1), none), none);
      const Simd::Vec kept = Simd::floats(Simd::and_bits(x, taken));
      sums[k] = Simd::add_wide(sums[k], Simd::widen(kept));
      counts = Simd::add_bits(counts, Simd::and_bits(one, taken));
    }
  }
};

/// The limit as an integer: magnitudes as integers have the order of floats; -1 is below all.
std::int32_t limit_bits(float above) { return above < 0 ? -1 : std::bit_cast<std::int32_t>(above); }

MASE_SIMD void store_counts(const LaneSums& from, std::int64_t& total) {
  std::array<std::int32_t, Simd::width> counts;
  Simd::store_bits(counts.data(), from.counts);
  for (const std::int32_t count : counts) total += count;
}

MASE_SIMD_TARGET MagnitudeSum run_sum(const float* in, std::size_t count, float above) {
  const Simd::Bits limit = Simd::all_bits(limit_bits(above));
  LaneSums lane;
  for (Simd::Wide& sum : lane.sums) sum = Simd::wide_all(0);
  MagnitudeSum found;
  // Counts of 32 bits can hold the elements of a part.
  constexpr std::size_t part = std::size_t{1} << 30;
  for (std::size_t first = 0; first < count; first += part) {
    const std::size_t end = count - first < part ? count : first + part;
    lane.counts = Simd::all_bits(0);
    std::size_t i = first;
    for (; i + lanes <= end; i += lanes) lane.add(in + i, limit);
    std::array<float, lanes> rest;
    rest.fill(std::bit_cast<float>(infinity_bits));  // infinities are left out
    std::memcpy(rest.data(), in + i, (end - i) * sizeof(float));
    lane.add(rest.data(), limit);
    store_counts(lane, found.count);
  }
  std::array<double, lanes> sums;
  for (std::size_t k = 0; k < lane_vectors; ++k)
    Simd::store_wide(sums.data() + k * Simd::width, lane.sums[k]);
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) sums[j] += sums[j + half];
  found.sum = sums[0];
  return found;
}

}  // namespace

const DrawnSignKernel MASE_KERNELS_OF(drawn_sign_kernel){run_drawn, run_drawn_encode};

const ThreeWayKernels MASE_KERNELS_OF(three_way_kernels){run_quantize, run_encode, run_decode,
                                                         run_sum};

}  // namespace mase::formats::kernels
