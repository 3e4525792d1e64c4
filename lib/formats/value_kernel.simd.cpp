// SPDX-License-Identifier: Apache-2.0
// The kernels that turn codes into values.
#include "formats/value_kernel.hpp"

#include <algorithm>

#include "simd/lookup.hpp"

namespace mase::formats::kernels {
namespace {

using namespace simd;

/// Writes with stores that bypass the caches from the first aligned address on; returns the number
/// of elements done. (Set is Simd; it is a parameter so that sets without such stores compile.)
template <class Set, class Value>
MASE_SIMD std::size_t stream_values(const Value& value, float* out, std::size_t count) {
  const std::size_t misaligned = (0 - reinterpret_cast<std::uintptr_t>(out)) / sizeof(float);
  std::size_t i = std::min(count, misaligned % Set::width);
  if (i > 0) store_part(out, value(0), i);
  for (; i + Set::width <= count; i += Set::width) Set::stream(out + i, value(i));
  return i;
}

/// out[i ..] = value(i), in whole vectors except at the ends.
template <class Value>
MASE_SIMD void write_values(const Value& value, const ValueSpan& span) {
  std::size_t i = 0;
  if constexpr (Simd::can_stream)
    if (span.stream) i = stream_values<Simd>(value, span.out, span.count);
  for (; i + Simd::width <= span.count; i += Simd::width) Simd::store(span.out + i, value(i));
  if (i < span.count) store_part(span.out + i, value(i), span.count - i);
}

template <class Element>
struct Elements {
  const Element& element;
  const std::int32_t* codes;
  MASE_SIMD Simd::Vec operator()(std::size_t i) const {
    return element(Simd::load_bits(codes + i));
  }
};

template <class Element>
struct Products {
  Elements<Element> elements;
  const float* factors;
  MASE_SIMD Simd::Vec operator()(std::size_t i) const {
    return Simd::mul(elements(i), Simd::load(factors + i));
  }
};

template <class Element>
MASE_SIMD void write_products(const Element& element, const ValueSpan& span) {
  const Elements<Element> elements{element, reinterpret_cast<const std::int32_t*>(span.codes)};
  if (span.factors)
    write_values(Products<Element>{elements, span.factors}, span);
  else
    write_values(elements, span);
}

template <class Table>
MASE_SIMD_TARGET void look_up(const float* table, const ValueSpan& span) {
  write_products(Table(table), span);
}

struct Integer {
  Simd::Bits sign;
  MASE_SIMD Simd::Vec operator()(Simd::Bits code) const {
    return Simd::from_integer(Simd::sub_bits(Simd::xor_bits(code, sign), sign));
  }
};

MASE_SIMD_TARGET void integers(std::int32_t sign, const ValueSpan& span) {
  write_products(Integer{Simd::all_bits(sign)}, span);
}

/// A store may run into the next tile, which is stored later.
MASE_SIMD_TARGET void spread(const float* factors, std::size_t before, std::size_t tile, float* to,
                             std::size_t count) {
  factors += before / tile;
  std::size_t begin = 0;
  for (std::size_t end = tile - before % tile; begin < count; begin = end, end += tile) {
    const Simd::Vec factor = Simd::all(*factors++);
    const std::size_t stop = std::min(end, count);
    for (std::size_t i = begin; i < stop; i += Simd::width) Simd::store(to + i, factor);
  }
}

}  // namespace

const ValueKernels MASE_KERNELS_OF(value_kernels){
    {look_up<Table<1>>, look_up<Table<2>>, look_up<Table<3>>, look_up<Table<4>>, look_up<Table<5>>,
     look_up<Table<6>>, look_up<Table<7>>, look_up<Table<8>>, look_up<MemoryTable>},
    integers,
    spread};

}  // namespace mase::formats::kernels
