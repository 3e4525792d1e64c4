// SPDX-License-Identifier: Apache-2.0
// Runs kernels of stochastic rounding over spans, with the random numbers of the elements.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/encoding.hpp"
#include "formats/offset_kernel.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// Kernels of stochastic rounding process multiples of this many elements.
inline constexpr std::size_t drawn_unit = 16;

/// Offset kernels begin at a group of this many elements.
inline constexpr std::size_t offset_group = 4;

using Offsets = std::array<float, code_piece + offset_group + drawn_unit>;

/// Calls `run(in, offsets, out, count)` for at most a piece, whose first element has index `first`:
/// on its whole units, then on a copy of the rest that is filled up with zeros.
template <class T, class Run>
void run_in_units(Seed seed, std::span<const float> in, std::size_t first, std::span<T> out,
                  Offsets& offsets, const Run& run) {
  const std::uint64_t number = seed.first + first;
  const std::size_t before = number % offset_group;
  const std::size_t units = (in.size() + drawn_unit - 1) / drawn_unit;
  kernels::offset_kernel(simd::best_isa())(seed.key, number - before, offsets.data(),
                                           before + units * drawn_unit, {in.data(), out.data()});
  const float* const own = offsets.data() + before;
  const std::size_t whole = in.size() - in.size() % drawn_unit;
  run(in.data(), own, out.data(), whole);
  if (whole == in.size()) return;
  std::array<float, drawn_unit> rest{};
  std::array<T, drawn_unit> made;
  std::copy(in.begin() + static_cast<std::ptrdiff_t>(whole), in.end(), rest.begin());
  run(rest.data(), own + whole, made.data(), drawn_unit);
  std::copy_n(made.begin(), in.size() - whole, out.begin() + static_cast<std::ptrdiff_t>(whole));
}

/// Quantizes the elements from `start` on; `run` is as above.
template <class Run>
void quantize_drawn(Seed seed, std::span<const float> in, std::span<float> out, const Run& run,
                    std::size_t start = 0) {
  Offsets offsets;
  for (std::size_t first = 0; first < in.size(); first += code_piece) {
    const std::size_t count = std::min(code_piece, in.size() - first);
    run_in_units(seed, in.subspan(first, count), start + first, out.subspan(first, count), offsets,
                 run);
  }
}

/// Encodes; refuses a NaN, naming the format, unless the format's name is empty.
template <class Run>
PackedCodes encode_drawn(int width, Seed seed, std::span<const float> in, std::string_view refusing,
                         const Run& run) {
  Offsets offsets;
  return encode_in_pieces(width, in.size(), [&](std::size_t first, std::span<std::uint32_t> codes) {
    const auto part = in.subspan(first, codes.size());
    for (std::size_t i = 0; !refusing.empty() && i < part.size(); ++i)
      if (std::isnan(part[i])) refuse_nan(first + i, refusing);
    run_in_units(seed, part, first, codes, offsets, run);
  });
}

}  // namespace mase::formats
