// The kernels for AVX2: 8 sums to a vector, two products added in one instruction.
#if defined(__x86_64__)
#include <immintrin.h>

#include "hardware/integer/kernels/kernels.hpp"

#pragma GCC optimize("O3")
#pragma GCC target("avx2")

namespace mase::integer::kernels {
namespace {

struct Simd {
  static constexpr std::size_t lanes = 8;
  static constexpr int tile_rows = 4;
  using Vec = __m256i;
  using Pairs = __m256i;
  static Vec load(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(std::int32_t* to, Vec v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
  }
  static Pairs load_pairs(const std::int16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Pairs same_pair(const std::int16_t* from) {
    std::int32_t pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return _mm256_set1_epi32(pair);
  }
  static Vec add_products(Vec sum, Pairs a, Pairs b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
};

#include "hardware/integer/kernels/loops.hpp"

}  // namespace

const KernelTable& avx2_table() { return table; }

}  // namespace mase::integer::kernels
#endif
