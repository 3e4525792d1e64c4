// SPDX-License-Identifier: Apache-2.0
// One table of functions for each instruction set, and the choice among them.
//
// A kernel is written once, in a file NAME.simd.cpp (see simd/simd.hpp). Its header says
//   MASE_KERNELS(RowKernelTable, row_kernels, avx512);
// and callers `row_kernels(isa)` or `row_kernels(simd::best_isa())`.
#pragma once

#include "simd/isa.hpp"

namespace mase::simd {

/// The tables of one kernel; the last table is for machines that have `widest`.
template <class Table, Isa widest>
struct Kernels {
  const Table *portable, *avx2, *last;

  /// The table for a machine that has `isa`.
  const Table& operator()(Isa isa) const {
    if (isa >= widest) return *last;
    return isa >= Isa::avx2 ? *avx2 : *portable;
  }
};

}  // namespace mase::simd

/// Declares `name`, the Kernels of a Table that NAME.simd.cpp defines for portable, avx2 and
/// `widest`, the sets for which lib/CMakeLists.txt compiles it.
#if defined(MASE_X86_KERNELS)
#define MASE_KERNELS(Table, name, widest)                                     \
  extern const Table name##_portable, name##_avx2, name##_##widest;           \
  inline constexpr mase::simd::Kernels<Table, mase::simd::Isa::widest> name { \
    &name##_portable, &name##_avx2, &name##_##widest                          \
  }
#else
#define MASE_KERNELS(Table, name, widest)                                     \
  extern const Table name##_portable;                                         \
  inline constexpr mase::simd::Kernels<Table, mase::simd::Isa::widest> name { \
    &name##_portable, &name##_portable, &name##_portable                      \
  }
#endif
