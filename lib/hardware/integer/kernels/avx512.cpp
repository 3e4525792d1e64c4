// The kernels for AVX-512 BW with VNNI: 16 sums to a vector, two products and the sum in one
// instruction.
#if defined(__x86_64__)
#include <immintrin.h>

#include "hardware/integer/kernels/kernels.hpp"

#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni")

namespace mase::integer::kernels {
namespace {

struct Simd {
  static constexpr std::size_t lanes = 16;
  static constexpr int tile_rows = 8;
  using Vec = __m512i;
  using Pairs = __m512i;
  static Vec load(const std::int32_t* from) { return _mm512_loadu_si512(from); }
  static void store(std::int32_t* to, Vec v) { _mm512_storeu_si512(to, v); }
  static Pairs load_pairs(const std::int16_t* from) { return _mm512_loadu_si512(from); }
  static Pairs same_pair(const std::int16_t* from) {
    std::int32_t pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return _mm512_set1_epi32(pair);
  }
  static Vec add_products(Vec sum, Pairs a, Pairs b) { return _mm512_dpwssd_epi32(sum, a, b); }
};

#include "hardware/integer/kernels/loops.hpp"

}  // namespace

const KernelTable& avx512_table() { return table; }

}  // namespace mase::integer::kernels
#endif
