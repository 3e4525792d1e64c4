// SPDX-License-Identifier: Apache-2.0
// Packing bit by bit range: an element touches at most three words.
#include "hardware/emit/text/beats.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace mase::emit {
namespace {

std::int64_t words_of(const design::Stream& stream) {
  return (stream.width() + beat_word_bits - 1) / beat_word_bits;
}

/// Ors the low `count` bits of `value` into the words from bit `first` on.
void put_bits(std::uint32_t* words, std::int64_t first, std::int64_t count, std::uint64_t value) {
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t place = first + done, shift = place % beat_word_bits;
    const std::int64_t take = std::min(beat_word_bits - shift, count - done);
    const std::uint64_t part = value >> done & ((std::uint64_t{1} << take) - 1);
    words[place / beat_word_bits] |= static_cast<std::uint32_t>(part << shift);
    done += take;
  }
}

std::uint64_t get_bits(const std::uint32_t* words, std::int64_t first, std::int64_t count) {
  std::uint64_t value = 0;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t place = first + done, shift = place % beat_word_bits;
    const std::int64_t take = std::min(beat_word_bits - shift, count - done);
    const std::uint64_t part =
        words[place / beat_word_bits] >> shift & ((std::uint64_t{1} << take) - 1);
    value |= part << done;
    done += take;
  }
  return value;
}

std::vector<std::uint32_t> words_from(const design::Stream& stream, const integer::Codes& codes) {
  MASE_CHECK(stream.elements > 0 && codes.size() % static_cast<std::size_t>(stream.elements) == 0,
             "vectors of " + stream.name + " are not a whole number of frames");
  const std::int64_t lanes = stream.lanes, words = words_of(stream), bits = stream.type.width;
  const auto beats = static_cast<std::int64_t>(codes.size()) / lanes;
  std::vector<std::uint32_t> out(static_cast<std::size_t>(beats * words), 0);
  for (std::int64_t beat = 0; beat < beats; ++beat)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t code = codes[static_cast<std::size_t>(beat * lanes + lane)];
      MASE_CHECK(code >= stream.type.low() && code <= stream.type.high(),
                 "a code of " + stream.name + " is outside of its type");
      put_bits(out.data() + beat * words, lane * bits, bits, static_cast<std::uint64_t>(code));
    }
  return out;
}

}  // namespace

std::string pack_beats(const design::Stream& stream, const integer::Codes& codes) {
  const std::vector<std::uint32_t> words = words_from(stream, codes);
  return {reinterpret_cast<const char*>(words.data()), 4 * words.size()};
}

integer::Codes unpack_beats(const design::Stream& stream, const std::string& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), 4 * words.size());
  const std::int64_t lanes = stream.lanes, step = words_of(stream), bits = stream.type.width;
  const auto beats = static_cast<std::int64_t>(words.size()) / step;
  integer::Codes codes;
  codes.reserve(static_cast<std::size_t>(beats * lanes));
  for (std::int64_t beat = 0; beat < beats; ++beat)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t value = get_bits(words.data() + beat * step, lane * bits, bits);
      const bool negative = stream.type.is_signed && (value >> (bits - 1) & 1) != 0;
      const std::uint64_t upper = negative && bits < 64 ? ~std::uint64_t{0} << bits : 0;
      codes.push_back(static_cast<std::int64_t>(value | upper));
    }
  return codes;
}

std::string hex_beats(const design::Stream& stream, const integer::Codes& codes) {
  const std::vector<std::uint32_t> words = words_from(stream, codes);
  const std::int64_t step = words_of(stream), digits = (stream.width() + 3) / 4;
  std::string out;
  for (std::size_t base = 0; base < words.size(); base += static_cast<std::size_t>(step)) {
    for (std::int64_t digit = digits - 1; digit >= 0; --digit)
      out += "0123456789abcdef"[get_bits(words.data() + base, 4 * digit, 4)];
    out += '\n';
  }
  return out;
}

}  // namespace mase::emit
