// SPDX-License-Identifier: Apache-2.0
// Signed arithmetic of Verilator's models in fewer instructions. A model is code without loops that
// a processor hardly reads in as fast as it runs, and a product of signed numbers is what it has
// most of. Included in front of everything that Verilator writes; the results are those of
// verilated_funcs.h.
#pragma once

#include <verilated.h>

// Operands have zeros above their bits; of results only the bits that the caller keeps are read.
inline IData bench_extend(int bits, IData value) {
  const int unused = VL_IDATASIZE - bits;
  return static_cast<IData>(static_cast<std::int32_t>(value << unused) >> unused);
}

inline QData bench_extend_wide(int bits, QData value) {
  const int unused = VL_QUADSIZE - bits;
  return static_cast<QData>(static_cast<std::int64_t>(value << unused) >> unused);
}

inline bool bench_less(int bits, IData a, IData b) {
  const int unused = VL_IDATASIZE - bits;
  return static_cast<std::int32_t>(a << unused) < static_cast<std::int32_t>(b << unused);
}

inline bool bench_less_wide(int bits, QData a, QData b) {
  const int unused = VL_QUADSIZE - bits;
  return static_cast<std::int64_t>(a << unused) < static_cast<std::int64_t>(b << unused);
}

#define VL_EXTENDS_II(obits, lbits, lhs) bench_extend(lbits, lhs)
#define VL_EXTENDS_QI(obits, lbits, lhs) bench_extend_wide(lbits, lhs)
#define VL_EXTENDS_QQ(obits, lbits, lhs) bench_extend_wide(lbits, lhs)
// The low bits of a product do not depend on signs.
#define VL_MULS_III(lbits, lhs, rhs) (static_cast<IData>(lhs) * static_cast<IData>(rhs))
#define VL_MULS_QQQ(lbits, lhs, rhs) (static_cast<QData>(lhs) * static_cast<QData>(rhs))
#define VL_LTS_III(lbits, lhs, rhs) bench_less(lbits, lhs, rhs)
#define VL_GTS_III(lbits, lhs, rhs) bench_less(lbits, rhs, lhs)
#define VL_LTES_III(lbits, lhs, rhs) !bench_less(lbits, rhs, lhs)
#define VL_GTES_III(lbits, lhs, rhs) !bench_less(lbits, lhs, rhs)
#define VL_LTS_IQQ(lbits, lhs, rhs) bench_less_wide(lbits, lhs, rhs)
#define VL_GTS_IQQ(lbits, lhs, rhs) bench_less_wide(lbits, rhs, lhs)
#define VL_LTES_IQQ(lbits, lhs, rhs) !bench_less_wide(lbits, rhs, lhs)
#define VL_GTES_IQQ(lbits, lhs, rhs) !bench_less_wide(lbits, lhs, rhs)
