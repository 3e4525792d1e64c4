// SPDX-License-Identifier: Apache-2.0
// What a thread of a kernel does for formats that treat each element by itself: it loads four
// elements, applies the operation to each, and stores them.
#pragma once

#include "base/philox.hpp"
#include "formats/device/launch.hpp"
#include "formats/rounding.hpp"
#include "formats/seed.hpp"
#include "simd/simd.hpp"

namespace mase::formats::kernels {
namespace {

using simd::Simd;

/// As many elements as a thread loads at once, and as have a Philox block.
struct alignas(16) Four {
  static constexpr std::size_t count = 4;
  float of[count];
};

/// True when Fours can be loaded and stored at multiples of four elements.
inline bool is_aligned(const DeviceSpan& span) {
  const auto misaligned = [](const float* at) {
    return reinterpret_cast<std::uintptr_t>(at) % sizeof(Four) != 0;
  };
  return !misaligned(span.in) && !misaligned(span.out);
}

/// The key's numbers from 4 * block on.
MASE_SIMD Four offsets_of(std::uint64_t key, std::uint64_t block) {
  const auto words =
      philox_block({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                    rounding_domain, 0},
                   {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  Four offsets;
  for (std::size_t i = 0; i < Four::count; ++i)
    offsets.of[i] = static_cast<float>(words[i] >> 8) * 0x1p-24F;
  return offsets;
}

/// The numbers of stochastic_offset for the elements from `first` on.
MASE_SIMD Four offsets_from(Seed seed, std::uint64_t first) {
  const std::uint64_t number = seed.first + first;
  Four offsets = offsets_of(seed.key, number / Four::count);
  if (number % Four::count == 0) return offsets;
  const Four next = offsets_of(seed.key, number / Four::count + 1);
  for (std::size_t i = 0; i < Four::count; ++i) {
    if (i == number % Four::count) break;
    for (std::size_t k = 0; k + 1 < Four::count; ++k) offsets.of[k] = offsets.of[k + 1];
    offsets.of[Four::count - 1] = next.of[i];
  }
  return offsets;
}

template <class Op>
struct ElementBody {
  Op op;
  Seed seed;
  const float* in;
  float* out;
  std::size_t count;
  bool aligned;

  MASE_SIMD void operator()(std::size_t thread, std::size_t threads) const {
    for (std::size_t block = thread; block * Four::count < count; block += threads) {
      const std::size_t first = block * Four::count;
      if (aligned && first + Four::count <= count)
        *reinterpret_cast<Four*>(out + first) =
            applied(*reinterpret_cast<const Four*>(in + first), block);
      else
        write_part(first, count - first < Four::count ? count - first : Four::count, block);
    }
  }

 private:
  MASE_SIMD void write_part(std::size_t first, std::size_t part, std::size_t block) const {
    Four x{};
    for (std::size_t i = 0; i < Four::count; ++i)
      if (i < part) x.of[i] = in[first + i];
    x = applied(x, block);
    for (std::size_t i = 0; i < Four::count; ++i)
      if (i < part) out[first + i] = x.of[i];
  }
  MASE_SIMD Four applied(Four x, std::size_t block) const {
    if constexpr (Op::draws) {
      const Four u = offsets_from(seed, block * Four::count);
      for (std::size_t i = 0; i < Four::count; ++i) x.of[i] = op(x.of[i], u.of[i]);
    } else {
      for (std::size_t i = 0; i < Four::count; ++i) x.of[i] = op(x.of[i]);
    }
    return x;
  }
};

/// Applies an operation to all elements.
template <class Op>
const char* apply_on_device(const Op& op, Seed seed, const DeviceSpan& span) {
  const ElementBody<Op> body{op, seed, span.in, span.out, span.count, is_aligned(span)};
  return launch(body, (span.count + Four::count - 1) / Four::count, span);
}

}  // namespace
}  // namespace mase::formats::kernels
