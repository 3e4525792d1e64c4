// The kernels for any machine.
#include "hardware/integer/kernels/kernels.hpp"

#pragma GCC optimize("O3")

namespace mase::integer::kernels {
namespace {

struct Simd {
  static constexpr std::size_t lanes = 4;
  static constexpr int tile_rows = 2;
  struct Vec {
    std::int32_t lane[lanes];
  };
  struct Pairs {
    std::int16_t lane[2 * lanes];
  };
  static Vec load(const std::int32_t* from) { return {{from[0], from[1], from[2], from[3]}}; }
  static void store(std::int32_t* to, const Vec& v) {
    for (std::size_t i = 0; i < lanes; ++i) to[i] = v.lane[i];
  }
  static Pairs load_pairs(const std::int16_t* from) {
    Pairs pairs;
    for (std::size_t i = 0; i < 2 * lanes; ++i) pairs.lane[i] = from[i];
    return pairs;
  }
  static Pairs same_pair(const std::int16_t* from) {
    Pairs pairs;
    for (std::size_t i = 0; i < 2 * lanes; ++i) pairs.lane[i] = from[i % 2];
    return pairs;
  }
  static Vec add_products(Vec sum, const Pairs& a, const Pairs& b) {
    for (std::size_t i = 0; i < lanes; ++i)
      sum.lane[i] += a.lane[2 * i] * b.lane[2 * i] + a.lane[2 * i + 1] * b.lane[2 * i + 1];
    return sum;
  }
};

#include "hardware/integer/kernels/loops.hpp"

}  // namespace

const KernelTable& portable_table() { return table; }

}  // namespace mase::integer::kernels
