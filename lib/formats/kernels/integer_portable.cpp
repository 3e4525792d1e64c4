// The integer kernels for any machine.
#include "formats/kernels/simd_portable.hpp"
// The loop needs Simd.
#include "formats/kernels/integer_loop.hpp"

namespace mase::formats::kernels {
namespace {

template <Rounding rounding, Profile profile>
void run(const IntegerGrid& grid, const float* in, float* out, std::size_t count) {
  apply(OnIntegerGrid<rounding, profile>::of(grid), in, out, count);
}

}  // namespace

IntegerKernel integer_kernel_portable(Rounding rounding, Profile profile) {
  if (profile == Profile::mase)
    return rounding == Rounding::floor ? run<Rounding::floor, Profile::mase>
                                       : run<Rounding::nearest_even, Profile::mase>;
  if (rounding == Rounding::floor) return run<Rounding::floor, Profile::exact>;
  if (rounding == Rounding::nearest_away) return run<Rounding::nearest_away, Profile::exact>;
  return run<Rounding::nearest_even, Profile::exact>;
}

}  // namespace mase::formats::kernels
