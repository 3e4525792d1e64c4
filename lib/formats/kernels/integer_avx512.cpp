// The integer kernels for AVX-512.
#if defined(__x86_64__)
#include "formats/kernels/simd_avx512.hpp"
// The loop needs Simd.
#include "formats/kernels/integer_loop.hpp"

namespace mase::formats::kernels {
namespace {

template <Rounding rounding, Profile profile>
__attribute__((target("avx512f"))) void run(const IntegerGrid& grid, const float* in, float* out,
                                            std::size_t count) {
  apply(OnIntegerGrid<rounding, profile>::of(grid), in, out, count);
}

}  // namespace

IntegerKernel integer_kernel_avx512(Rounding rounding, Profile profile) {
  if (profile == Profile::mase)
    return rounding == Rounding::floor ? run<Rounding::floor, Profile::mase>
                                       : run<Rounding::nearest_even, Profile::mase>;
  if (rounding == Rounding::floor) return run<Rounding::floor, Profile::exact>;
  if (rounding == Rounding::nearest_away) return run<Rounding::nearest_away, Profile::exact>;
  return run<Rounding::nearest_even, Profile::exact>;
}

}  // namespace mase::formats::kernels
#endif
