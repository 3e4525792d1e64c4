// One float of each of 16 images as a vector. Included by the kernel source files after they have
// defined MASE_LANES_TARGET, the attribute of their instruction set, and MASE_LANES_NATIVE, how
// many floats a register holds there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "torch/train/lanes/kernels.hpp"

#define MASE_LANES MASE_LANES_TARGET inline __attribute__((always_inline))

namespace mase::train {
namespace {

constexpr std::size_t lanes = lane_count, native = MASE_LANES_NATIVE, parts = lanes / native;

// Attributes take no names of types, only sizes in bytes.
typedef float Native __attribute__((vector_size(4 * MASE_LANES_NATIVE), aligned(4), may_alias));
typedef std::int32_t NativeMask __attribute__((vector_size(4 * MASE_LANES_NATIVE)));

struct Vec {
  Native part[parts];
};

/// All bits set in the lanes where something holds.
struct Mask {
  NativeMask part[parts];
};

MASE_LANES Vec load(const float* from) {
  Vec v;
  for (std::size_t p = 0; p < parts; ++p)
    v.part[p] = *reinterpret_cast<const Native*>(from + p * native);
  return v;
}

MASE_LANES void store(float* to, Vec v) {
  for (std::size_t p = 0; p < parts; ++p) *reinterpret_cast<Native*>(to + p * native) = v.part[p];
}

MASE_LANES Vec all(float value) {
  Vec v;
  for (std::size_t p = 0; p < parts; ++p) v.part[p] = Native{} + value;
  return v;
}

MASE_LANES Vec operator+(Vec a, Vec b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] += b.part[p];
  return a;
}
MASE_LANES Vec operator-(Vec a, Vec b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] -= b.part[p];
  return a;
}
MASE_LANES Vec operator*(Vec a, Vec b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] *= b.part[p];
  return a;
}

MASE_LANES Mask operator<(Vec a, Vec b) {
  Mask m;
  for (std::size_t p = 0; p < parts; ++p) m.part[p] = a.part[p] < b.part[p];
  return m;
}
MASE_LANES Mask operator<=(Vec a, Vec b) {
  Mask m;
  for (std::size_t p = 0; p < parts; ++p) m.part[p] = a.part[p] <= b.part[p];
  return m;
}
MASE_LANES Mask operator==(Vec a, Vec b) {
  Mask m;
  for (std::size_t p = 0; p < parts; ++p) m.part[p] = a.part[p] == b.part[p];
  return m;
}
MASE_LANES Mask operator|(Mask a, Mask b) {
  for (std::size_t p = 0; p < parts; ++p) a.part[p] |= b.part[p];
  return a;
}

MASE_LANES Vec select(Mask where, Vec then, Vec otherwise) {
  for (std::size_t p = 0; p < parts; ++p)
    then.part[p] = where.part[p] ? then.part[p] : otherwise.part[p];
  return then;
}

}  // namespace
}  // namespace mase::train
