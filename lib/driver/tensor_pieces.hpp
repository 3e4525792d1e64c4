// SPDX-License-Identifier: Apache-2.0
// Work on a large tensor piece by piece, by all threads, in little memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "base/parallel.hpp"
#include "formats/pieces.hpp"
#include "formats/strips.hpp"

namespace mase::driver {

/// The elements that all threads together have at a time, unless more belong together.
inline constexpr std::int64_t elements_at_once = std::int64_t{1} << 21;

inline int thread_count() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 64U));
}

/// The elements of a piece.
inline std::int64_t piece_elements() { return elements_at_once / thread_count(); }

/// How many pieces, or strips, are treated at a time.
template <class Parts>
int threads_for(const Parts& parts) {
  const std::int64_t most = std::max<std::int64_t>(1, parts.most_elements());
  const auto few = static_cast<int>(std::max<std::int64_t>(1, elements_at_once / most));
  return std::min(few, thread_count());
}

/// Calls see(piece) for `count` pieces from piece `first` on, in any order and from several
/// threads.
template <class See>
void for_each_piece(const formats::Pieces& pieces, std::size_t first, std::size_t count, See see) {
  for_each_index(count, threads_for(pieces),
                 [&] { return [&](std::size_t i) { see(pieces.at(first + i)); }; });
}

/// The elements of a strip where a piece has `elements`: fewer, since a strip is copied out of the
/// tensor first, and the result is in memory besides.
inline std::int64_t strip_elements(std::int64_t elements) {
  return std::max<std::int64_t>(1, elements / 2);
}

/// Calls see(index) for all strips, in any order and from several threads. A single strip is left
/// to the caller's thread, since its pieces have threads of their own.
template <class See>
void for_each_strip(const formats::Strips& strips, See see) {
  for_each_index(strips.count(), strips.count() > 1 ? threads_for(strips) : 1, [&] { return see; });
}

}  // namespace mase::driver
