// SPDX-License-Identifier: Apache-2.0
// Sixteen floats as one vector with operators, in as many registers as the instruction set needs.
// (A product and a sum become one fused operation if the set has one.)
#pragma once

#include "simd/simd.hpp"

namespace mase::simd {
namespace {

constexpr std::size_t lanes = 16, native = Simd::width, parts = lanes / native;

typedef float Native __attribute__((vector_size(4 * native), aligned(4), may_alias));
typedef std::int32_t NativeMask __attribute__((vector_size(4 * native)));

struct Vec {
  Native part[parts];
};

/// A mask: all bits are set in the lanes for which a condition holds.
struct Mask {
  NativeMask part[parts];
};

MASE_SIMD Vec load(const float* from) {
  Vec v;
  for (std::size_t p = 0; p < parts; ++p)
    v.part[p] = *reinterpret_cast<const Native*>(from + p * native);
  return v;
}

MASE_SIMD void store(float* to, Vec v) {
  for (std::size_t p = 0; p < parts; ++p) *reinterpret_cast<Native*>(to + p * native) = v.part[p];
}

MASE_SIMD Vec all(float value) {
  Vec v;
  for (std::size_t p = 0; p < parts; ++p) v.part[p] = value - Native{};  // -0 + 0 would be 0
  return v;
}

MASE_SIMD Vec operator+(Vec a, Vec b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] += b.part[p];
  return a;
}
MASE_SIMD Vec operator-(Vec a, Vec b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] -= b.part[p];
  return a;
}
MASE_SIMD Vec operator*(Vec a, Vec b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] *= b.part[p];
  return a;
}

MASE_SIMD Mask operator<(Vec a, Vec b) {
  Mask m;
  for (std::size_t p = 0; p < parts; ++p) m.part[p] = a.part[p] < b.part[p];
  return m;
}
MASE_SIMD Mask operator<=(Vec a, Vec b) {
  Mask m;
  for (std::size_t p = 0; p < parts; ++p) m.part[p] = a.part[p] <= b.part[p];
  return m;
}
MASE_SIMD Mask operator==(Vec a, Vec b) {
  Mask m;
  for (std::size_t p = 0; p < parts; ++p) m.part[p] = a.part[p] == b.part[p];
  return m;
}
MASE_SIMD Mask operator|(Mask a, Mask b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] |= b.part[p];
  return a;
}

MASE_SIMD Vec select(Mask where, Vec then, Vec otherwise) {
  for (std::size_t p = 0; p < parts; ++p)
    then.part[p] = where.part[p] ? then.part[p] : otherwise.part[p];
  return then;
}

}  // namespace
}  // namespace mase::simd
