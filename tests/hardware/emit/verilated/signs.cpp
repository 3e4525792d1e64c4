// SPDX-License-Identifier: Apache-2.0
// Compares the bench's signed arithmetic with Verilator's own, for every width, where signs change:
// exit status 0 when all bits are equal that a model keeps. bench_test.cpp compiles and runs it.
#include <verilated.h>

#include <cstdio>
#include <vector>

namespace {

enum Operation { extend, extend_to_wide, extend_wide, multiply, multiply_wide, less, less_wide };

// What the names mean where this is used.
#define RESULT(operation, bits, a, b, a_wide, b_wide)                                              \
  switch (operation) {                                                                             \
    case extend:                                                                                   \
      return VL_EXTENDS_II(32, bits, a);                                                           \
    case extend_to_wide:                                                                           \
      return VL_EXTENDS_QI(64, bits, a);                                                           \
    case extend_wide:                                                                              \
      return VL_EXTENDS_QQ(64, bits, a_wide);                                                      \
    case multiply:                                                                                 \
      return VL_MULS_III(bits, a, b);                                                              \
    case multiply_wide:                                                                            \
      return VL_MULS_QQQ(bits, a_wide, b_wide);                                                    \
    case less:                                                                                     \
      return VL_LTS_III(bits, a, b) | VL_GTS_III(bits, a, b) << 1 | VL_LTES_III(bits, a, b) << 2 | \
             VL_GTES_III(bits, a, b) << 3;                                                         \
    default:                                                                                       \
      return VL_LTS_IQQ(bits, a_wide, b_wide) | VL_GTS_IQQ(bits, a_wide, b_wide) << 1 |            \
             VL_LTES_IQQ(bits, a_wide, b_wide) << 2 | VL_GTES_IQQ(bits, a_wide, b_wide) << 3;      \
  }

QData verilator(Operation operation, int bits, QData a, QData b) {
  RESULT(operation, bits, static_cast<IData>(a), static_cast<IData>(b), a, b)
}

}  // namespace

#include "signs.hpp"

namespace {

QData bench(Operation operation, int bits, QData a, QData b) {
  RESULT(operation, bits, static_cast<IData>(a), static_cast<IData>(b), a, b)
}

bool same(Operation operation, int most) {
  for (int bits = 1; bits <= most; ++bits) {
    const QData half = QData{1} << (bits - 1), mask = ~QData{0} >> (64 - bits);
    const bool product = operation == multiply || operation == multiply_wide;
    std::vector<QData> values{0,        1,        2,    half - 1,          half,
                              half + 1, mask - 1, mask, 0x9e3779b97f4a7c15};
    for (QData& value : values) value &= mask;
    for (const QData a : values)
      for (const QData b : values) {
        const QData difference = verilator(operation, bits, a, b) ^ bench(operation, bits, a, b);
        if ((difference & (product ? mask : ~QData{0})) == 0) continue;
        std::printf("operation %d of %d bits differs\n", operation, bits);
        return false;
      }
  }
  return true;
}

}  // namespace

int main() {
  bool good = true;
  for (const Operation operation : {extend, extend_to_wide, multiply, less})
    good &= same(operation, 32);
  for (const Operation operation : {extend_wide, multiply_wide, less_wide})
    good &= same(operation, 64);
  return good ? 0 : 1;
}
