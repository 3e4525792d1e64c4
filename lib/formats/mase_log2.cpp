// The reference system's logarithm, and where its rounded value changes.
#include "formats/mase_log2.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mase::formats {
namespace {

// The first bit pattern in (below, at] whose rounded logarithm is at least `exponent`, which it is
// at `at`, not at `below`. Patterns of floats that are not negative are ordered like their values,
// and the logarithm is monotone.
template <class RoundedLog2>
std::uint32_t first_reaching(const RoundedLog2& rounded_log2, float exponent, std::uint32_t below,
                             std::uint32_t at) {
  while (at - below > 1) {
    const std::uint32_t middle = below + (at - below) / 2;
    (rounded_log2(std::bit_cast<float>(middle)) >= exponent ? at : below) = middle;
  }
  return at;
}

// A rounded logarithm by table: in the binade of 2^k it is k up to some value and then k + 1.
class RoundedLog2 {
 public:
  explicit RoundedLog2(float (*round)(float)) : round_(round) {
    const auto definition = [&](float v) { return round(mase_log2(v)); };
    for (std::uint32_t field = 1; field < 255; ++field)
      steps_[field] = first_reaching(definition, static_cast<float>(field) - 126.0F, field << 23,
                                     (field + 1) << 23);
  }

  float operator()(float v) const {
    const auto bits = std::bit_cast<std::uint32_t>(v);
    const std::uint32_t field = bits >> 23;
    if (field == 0 || field >= 255) return round_(mase_log2(v));  // subnormal, infinite or NaN
    return static_cast<float>(field) - (bits < steps_[field] ? 127.0F : 126.0F);
  }

 private:
  float (*round_)(float);
  std::array<std::uint32_t, 255> steps_{};
};

}  // namespace

float mase_log2(float v) { return static_cast<float>(std::log2(static_cast<double>(v))); }

float mase_floor_log2(float v) {
  static const RoundedLog2 table([](float w) { return std::floor(w); });
  return table(v);
}

float mase_ceil_log2(float v) {
  static const RoundedLog2 table([](float w) { return std::ceil(w); });
  return table(v);
}

float mase_round_log2(float v) {
  static const RoundedLog2 table([](float w) { return std::nearbyint(w); });
  return table(v);
}

float mase_power(float exponent) {
  if (exponent < -126.0F || exponent > 127.0F)
    return std::ldexp(1.0F, static_cast<int>(std::clamp(exponent, -200.0F, 200.0F)));
  return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<int>(exponent) + 127) << 23);
}

float mase_mix(float x, float q) {
  const float kept = std::abs(x) <= mase_tiny ? 1.0F : 0.0F;
  return (1.0F - kept) * q + kept * x;
}

std::vector<float> mase_log2_thresholds(float (*rounded_log2)(float), int low, int high) {
  // From 0, whose logarithm is -infinity, to infinity.
  std::vector<float> thresholds;
  for (int exponent = low + 1; exponent <= high; ++exponent)
    thresholds.push_back(std::bit_cast<float>(
        first_reaching(rounded_log2, static_cast<float>(exponent), 0, 0x7f800000)));
  return thresholds;
}

}  // namespace mase::formats
