// SPDX-License-Identifier: Apache-2.0
// Packs and unpacks codes, least significant bit first (formats.md, storage).
//
// Eight codes fill as many bytes as a code has bits. There is a function for each width, so that
// places and shifts of the eight are constants. Widths that divide a byte or are whole words use
// loops that compilers vectorise.
#include "formats/codes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/error.hpp"
#include "formats/pack_kernel.hpp"

namespace mase::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "codes are stored low byte first");

using Codes = std::span<const std::uint32_t>;

// The codes packed at a time: they and their bytes fit the nearest cache. It is a multiple of 8, so
// that pieces end at byte borders.
constexpr std::size_t piece = 2048;

void check_bits(int bits) { MASE_CHECK(bits >= 1 && bits <= 32, "code width not in 1 .. 32"); }

constexpr std::uint64_t mask_of(int bits) { return (std::uint64_t{1} << bits) - 1; }

std::size_t bytes_for(int bits, std::size_t size) {
  return (size * static_cast<std::size_t>(bits) + 7) / 8;
}

// Packs 8 / bits codes into each byte.
template <int bits>
void pack_parts(Codes codes, char* out) {
  constexpr std::size_t parts = 8 / bits;
  for (std::size_t i = 0; i < codes.size() / parts; ++i) {
    std::uint32_t byte = 0;
    for (std::size_t k = 0; k < parts; ++k)
      byte |= (codes[i * parts + k] & mask_of(bits)) << (k * bits);
    out[i] = static_cast<char>(byte);
  }
}

template <class Word>
void pack_words(Codes codes, char* out) {
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto word = static_cast<Word>(codes[i]);
    std::memcpy(out + i * sizeof word, &word, sizeof word);
  }
}

template <int bits>
void pack_groups(Codes codes, char* out) {
  for (std::size_t i = 0; i < codes.size(); i += 8, out += bits) {
    std::uint64_t words[5] = {};
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) {
      const std::uint64_t code = codes[i + k] & mask_of(bits);
      const std::size_t word = k * bits / 64, shift = k * bits % 64;
      words[word] |= code << shift;
      if (shift + bits > 64) words[word + 1] |= code >> (64 - shift);
    }
    std::memcpy(out, words, bits);
  }
}

// Packs a multiple of 8 codes.
template <int bits>
void pack(Codes codes, char* out) {
  if constexpr (8 % bits == 0)
    pack_parts<bits>(codes, out);
  else if constexpr (bits == 16)
    pack_words<std::uint16_t>(codes, out);
  else if constexpr (bits == 32)
    pack_words<std::uint32_t>(codes, out);
  else
    pack_groups<bits>(codes, out);
}

template <int bits>
void unpack_parts(const char* bytes, std::span<std::uint32_t> out) {
  constexpr std::size_t parts = 8 / bits;
  for (std::size_t i = 0; i < out.size() / parts; ++i)
    for (std::size_t k = 0; k < parts; ++k)
      out[i * parts + k] =
          (static_cast<unsigned char>(bytes[i]) >> (k * bits)) & ((1U << bits) - 1);
}

template <class Word>
void unpack_words(const char* bytes, std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Word word;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    out[i] = word;
  }
}

// Each code is within the 8 bytes from its first byte. Stops where these would pass the end.
template <int bits>
std::size_t unpack_groups(std::string_view bytes, std::span<std::uint32_t> out) {
  constexpr std::size_t reach = 7 * bits / 8 + 8;
  std::size_t i = 0, at = 0;
  for (; i < out.size() && at + reach <= bytes.size(); i += 8, at += bits)
#pragma GCC unroll 8
    for (std::size_t k = 0; k < 8; ++k) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + at + k * bits / 8, 8);
      out[i + k] = static_cast<std::uint32_t>((word >> (k * bits % 8)) & mask_of(bits));
    }
  return i;
}

// Unpacks a multiple of 8 codes from the start of `bytes`; returns how many are done.
template <int bits>
std::size_t unpack(std::string_view bytes, std::span<std::uint32_t> out) {
  if constexpr (8 % bits == 0)
    unpack_parts<bits>(bytes.data(), out);
  else if constexpr (bits == 16)
    unpack_words<std::uint16_t>(bytes.data(), out);
  else if constexpr (bits == 32)
    unpack_words<std::uint32_t>(bytes.data(), out);
  else
    return unpack_groups<bits>(bytes, out);
  return out.size();
}

struct Coder {
  void (*pack)(Codes codes, char* out);
  std::size_t (*unpack)(std::string_view bytes, std::span<std::uint32_t> out);
};

template <std::size_t... index>
constexpr std::array<Coder, sizeof...(index)> coders(std::index_sequence<index...>) {
  return {Coder{pack<index + 1>, unpack<index + 1>}...};
}

const Coder& coder_of(int bits) {
  static constexpr auto all = coders(std::make_index_sequence<32>());
  return all[static_cast<std::size_t>(bits - 1)];
}

// The 8 bytes from byte `at` on, or as many as there are.
std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  if (at + sizeof word <= bytes.size())
    std::memcpy(&word, bytes.data() + at, sizeof word);
  else
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
  return word;
}

// Fresh memory costs a fault for every page, which takes as long as the codes themselves, so large
// outputs ask for huge pages.
void prefer_huge_pages(const char* begin, std::size_t size) {
#if defined(__linux__)
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t skipped = (0 - reinterpret_cast<std::uintptr_t>(begin)) % huge_page;
  if (size < skipped + huge_page) return;
  madvise(const_cast<char*>(begin) + skipped, (size - skipped) / huge_page * huge_page,
          MADV_HUGEPAGE);
#else
  (void)begin, (void)size;
#endif
}

// Packs a multiple of 8 codes; `out` has pack_padding further bytes.
void pack_whole(int bits, Codes codes, char* out) {
  const auto kernel =
      kernels::pack_kernels(simd::best_isa()).pack[static_cast<std::size_t>(bits - 1)];
  const std::size_t grouped = kernel ? codes.size() - codes.size() % kernels::pack_group : 0;
  if (kernel) kernel(codes.data(), grouped, out);
  coder_of(bits).pack(codes.subspan(grouped), out + bytes_for(bits, grouped));
}

// Unpacks a multiple of 8 codes from the start of `bytes`; returns how many are done.
std::size_t unpack_whole(int bits, std::string_view bytes, std::span<std::uint32_t> out) {
  const auto kernel = kernels::pack_kernels(simd::best_isa()).unpack;
  const std::size_t done =
      kernel ? kernel(bytes.data(), bytes.size(), bits, out.data(), out.size()) : 0;
  return done + coder_of(bits).unpack(bytes.substr(bytes_for(bits, done)), out.subspan(done));
}

// Unpacks codes from any bit on, one by one, each `step` bits after the one before.
void unpack_bits(std::string_view bytes, std::size_t bit, int bits, std::size_t step,
                 std::span<std::uint32_t> out) {
  for (std::uint32_t& code : out) {
    code = static_cast<std::uint32_t>((word_at(bytes, bit / 8) >> (bit % 8)) & mask_of(bits));
    bit += step;
  }
}

}  // namespace

PackedCodes::PackedCodes(std::string bytes, int bits, std::size_t size)
    : bytes_(std::move(bytes)), bits_(bits), size_(size) {
  check_bits(bits);
  // The first comparison keeps size * bits from overflowing.
  if (size > (bytes_.size() + 1) * 8 || bytes_.size() != bytes_for(bits, size))
    file_error(std::to_string(bytes_.size()) + " bytes do not hold " + std::to_string(size) +
               " codes of " + std::to_string(bits) + " bits");
}

std::vector<std::uint32_t> PackedCodes::unpack() const {
  std::vector<std::uint32_t> codes(size_);
  unpack(0, codes);
  return codes;
}

void PackedCodes::unpack(std::size_t first, std::span<std::uint32_t> out) const {
  MASE_CHECK(first + out.size() <= size_, "codes beyond the last one");
  const auto width = static_cast<std::size_t>(bits_);
  // Every eighth code begins with a byte.
  const std::size_t head = std::min(out.size(), (8 - first % 8) % 8);
  unpack_bits(bytes_, first * width, bits_, width, out.first(head));
  const std::size_t whole = out.size() - head - (out.size() - head) % 8;
  if (whole == 0) return unpack(first + head, out.subspan(head), 1);
  const std::string_view rest = std::string_view(bytes_).substr((first + head) * width / 8);
  const std::size_t done = head + unpack_whole(bits_, rest, out.subspan(head, whole));
  unpack(first + done, out.subspan(done), 1);
}

void PackedCodes::unpack(std::size_t first, std::span<std::uint32_t> out,
                         std::size_t stride) const {
  if (out.empty()) return;
  MASE_CHECK(first + (out.size() - 1) * stride < size_, "codes beyond the last one");
  const auto width = static_cast<std::size_t>(bits_);
  unpack_bits(bytes_, first * width, bits_, stride * width, out);
}

CodePacker::CodePacker(int bits, std::size_t expected) : bits_(bits) {
  check_bits(bits);
  bytes_.reserve(bytes_for(bits, expected));
  prefer_huge_pages(bytes_.data(), bytes_.capacity());
}

void CodePacker::append(std::span<const std::uint32_t> codes) {
  size_ += codes.size();
  while (!codes.empty() && pending_bits_ != 0) {
    append_one(codes.front());
    codes = codes.subspan(1);
  }
  const std::size_t whole = codes.size() - codes.size() % 8;
  for (std::size_t done = 0; done < whole; done += piece)
    append_whole(codes.subspan(done, std::min(piece, whole - done)));
  for (const std::uint32_t code : codes.subspan(whole)) append_one(code);
}

void CodePacker::append_whole(std::span<const std::uint32_t> codes) {
  std::array<char, piece * sizeof(std::uint32_t) + kernels::pack_padding> made;
  pack_whole(bits_, codes, made.data());
  bytes_.append(made.data(), bytes_for(bits_, codes.size()));
}

void CodePacker::append_one(std::uint32_t code) {
  pending_ |= (code & mask_of(bits_)) << pending_bits_;
  for (pending_bits_ += bits_; pending_bits_ >= 8; pending_bits_ -= 8, pending_ >>= 8)
    bytes_.push_back(static_cast<char>(pending_ & 0xff));
}

PackedCodes CodePacker::finish() {
  if (pending_bits_ > 0) bytes_.push_back(static_cast<char>(pending_));
  return {std::move(bytes_), bits_, size_};
}

PackedCodes pack_codes(std::span<const std::uint32_t> codes, int bits) {
  CodePacker packer(bits, codes.size());
  packer.append(codes);
  return packer.finish();
}

}  // namespace mase::formats
