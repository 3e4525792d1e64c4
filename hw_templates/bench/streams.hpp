// SPDX-License-Identifier: Apache-2.0
// Streams of the design under test as sim/streams.txt describes them, and their beats: arrays of
// 32-bit words, every beat beginning with a word of its own, unused upper bits zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Stream {
  bool is_input = false;
  std::string name;
  std::size_t first_word = 0;  // in in_data or out_data of bench_top
  std::size_t width = 0;       // bits of a beat
  std::size_t beats_per_frame = 0;
  std::size_t element_bits = 0;
  bool is_signed = false;

  std::size_t words() const { return (width + 31) / 32; }
  std::size_t elements() const { return width / element_bits; }
};

// Bits [first, first + count) of a beat as a number; count is at most 64.
inline std::uint64_t extract(const std::uint32_t* beat, std::size_t first, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t bit = 0; bit < count; ++bit) {
    const std::size_t place = first + bit;
    value |= static_cast<std::uint64_t>(beat[place / 32] >> (place % 32) & 1) << bit;
  }
  return value;
}

inline std::string element_text(const Stream& stream, const std::uint32_t* beat, std::size_t i) {
  const std::size_t bits = stream.element_bits;
  const std::uint64_t value = extract(beat, i * bits, bits);
  if (!stream.is_signed || bits == 0 || (value >> (bits - 1) & 1) == 0)
    return std::to_string(value);
  const std::uint64_t ones = bits == 64 ? 0 : ~std::uint64_t{0} << bits;
  return std::to_string(static_cast<std::int64_t>(value | ones));
}

// Lines "in|out name first_bit width beats_per_frame element_bits s|u"; '#' begins a comment.
inline std::vector<Stream> read_streams(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Stream> streams;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    Stream stream;
    std::string direction, sign;
    std::size_t first_bit = 0;
    std::istringstream words(line);
    words >> direction >> stream.name >> first_bit >> stream.width >> stream.beats_per_frame >>
        stream.element_bits >> sign;
    const bool good = words && (direction == "in" || direction == "out") && stream.width > 0 &&
                      first_bit % 32 == 0 && stream.beats_per_frame > 0 && stream.element_bits > 0;
    if (!good) throw std::runtime_error(path + ": cannot understand '" + line + "'");
    stream.is_input = direction == "in";
    stream.first_word = first_bit / 32;
    stream.is_signed = sign == "s";
    streams.push_back(stream);
  }
  return streams;
}

// One hex number a line becomes one beat.
inline void append_hex(const std::string& line, const Stream& stream,
                       std::vector<std::uint32_t>& beats) {
  const std::size_t base = beats.size();
  beats.resize(base + stream.words(), 0);
  std::size_t bit = 0;
  for (auto c = line.rbegin(); c != line.rend(); ++c) {
    if (*c == '\r' || *c == ' ') continue;
    const std::string digits = "0123456789abcdef";
    const std::size_t digit = digits.find(static_cast<char>(*c | 32));
    if (digit == std::string::npos || (bit >= stream.words() * 32 && digit != 0))
      throw std::runtime_error("vectors of " + stream.name + ": '" + line + "' is not a beat");
    if (digit != 0) beats[base + bit / 32] |= static_cast<std::uint32_t>(digit) << (bit % 32);
    bit += 4;
  }
}

// `<folder>/<name>.bin` (little-endian words) or `<folder>/<name>.hex` (a beat a line).
inline bool read_beats(const std::string& folder, const Stream& stream,
                       std::vector<std::uint32_t>& beats) {
  const std::string stem = folder + "/" + stream.name;
  if (std::ifstream binary{stem + ".bin", std::ios::binary}) {
    const std::string bytes{std::istreambuf_iterator<char>(binary), {}};
    if (bytes.size() % (4 * stream.words()) != 0)
      throw std::runtime_error(stem + ".bin does not end with a whole beat");
    beats.resize(bytes.size() / 4);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(beats.data()));
    return true;
  }
  std::ifstream text{stem + ".hex"};
  if (!text) return false;
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) append_hex(line, stream, beats);
  return true;
}

inline void write_words(const std::string& path, const std::vector<std::uint32_t>& words) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(4 * words.size()));
  if (!file) throw std::runtime_error("cannot write " + path);
}
