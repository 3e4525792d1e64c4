// Choosing the element kernels of block formats.
#include "formats/block/block_kernels.hpp"

#include "base/error.hpp"

namespace mase::formats::kernels {
namespace {

const BlockKernelTable& kernels_of(Isa isa, Rounding rounding) {
  MASE_CHECK(rounding != Rounding::stochastic, "stochastic rounding has no block kernel");
#if defined(__x86_64__)
  static const BlockKernelTable avx2 = block_kernels_avx2(), avx512 = block_kernels_avx512();
  if (isa == Isa::avx2) return avx2;
  if (isa == Isa::avx512) return avx512;
#endif
  static const BlockKernelTable portable = block_kernels_portable();
  MASE_CHECK(isa == Isa::portable, "instruction set that is not available");
  return portable;
}

}  // namespace

GridKernel<BlockFpGrid> block_fp_kernel(Isa isa, Rounding rounding) {
  return kernels_of(isa, rounding).fp[static_cast<std::size_t>(rounding)];
}

GridKernel<BlockFpGrid> block_fp_code_kernel(Isa isa, Rounding rounding) {
  return kernels_of(isa, rounding).fp_code[static_cast<std::size_t>(rounding)];
}

BlockMinifloatGrid block_minifloat_grid(const MinifloatSpec& scaled) {
  return {minifloat_grid(scaled), minifloat_code_grid(scaled)};
}

GridKernel<BlockMinifloatGrid> block_minifloat_kernel(Isa isa, Rounding rounding) {
  return kernels_of(isa, rounding).minifloat[static_cast<std::size_t>(rounding)];
}

GridKernel<BlockMinifloatGrid> block_minifloat_code_kernel(Isa isa, Rounding rounding) {
  return kernels_of(isa, rounding).minifloat_code[static_cast<std::size_t>(rounding)];
}

GridKernel<LogGrid> block_log_kernel(Isa isa, Rounding rounding) {
  return kernels_of(isa, rounding).log[static_cast<std::size_t>(rounding)];
}

GridKernel<LogGrid> block_log_code_kernel(Isa isa, Rounding rounding) {
  return kernels_of(isa, rounding).log_code[static_cast<std::size_t>(rounding)];
}

}  // namespace mase::formats::kernels
