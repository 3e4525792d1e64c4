// Packing and unpacking of codes, least significant bit first (formats.md, storage).
//
// Widths that divide a byte or are whole 16- or 32-bit words go by plain loops, which compilers
// vectorise; the others go through 64 bits of shifts.
#include "formats/codes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.hpp"

namespace mase::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "codes are stored low byte first");

using Codes = std::span<const std::uint32_t>;

// Codes packed at a time: what the bytes' growth has just written is still in the nearest cache.
// A multiple of 8, so that pieces end at byte borders.
constexpr std::size_t piece = 8192;

void check_bits(int bits) { MASE_CHECK(bits >= 1 && bits <= 32, "code width not in 1 .. 32"); }

std::uint64_t mask_of(int bits) { return (std::uint64_t{1} << bits) - 1; }

std::size_t bytes_for(int bits, std::size_t size) {
  return (size * static_cast<std::size_t>(bits) + 7) / 8;
}

// Packs 8 / bits codes into each byte; `codes` fill whole bytes.
template <int bits>
void pack_parts(Codes codes, char* out) {
  constexpr std::size_t parts = 8 / bits;
  for (std::size_t i = 0; i < codes.size() / parts; ++i) {
    std::uint32_t byte = 0;
    for (std::size_t k = 0; k < parts; ++k)
      byte |= (codes[i * parts + k] & ((1U << bits) - 1)) << (k * bits);
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

// Each group of 8 codes fills `bits` bytes; they leave a 64-bit register four at a time.
void pack_groups(Codes codes, int bits, char* out) {
  const std::uint64_t mask = mask_of(bits);
  std::uint64_t pending = 0;
  int pending_bits = 0;
  for (const std::uint32_t code : codes) {
    pending |= (code & mask) << pending_bits;
    pending_bits += bits;
    if (pending_bits < 32) continue;
    std::memcpy(out, &pending, 4);
    out += 4;
    pending >>= 32;
    pending_bits -= 32;
  }
  std::memcpy(out, &pending, static_cast<std::size_t>(pending_bits / 8));
}

// `codes` fill whole bytes.
void pack_whole(Codes codes, int bits, char* out) {
  switch (bits) {
    case 1:
      return pack_parts<1>(codes, out);
    case 2:
      return pack_parts<2>(codes, out);
    case 4:
      return pack_parts<4>(codes, out);
    case 8:
      return pack_words<std::uint8_t>(codes, out);
    case 16:
      return pack_words<std::uint16_t>(codes, out);
    case 32:
      return pack_words<std::uint32_t>(codes, out);
    default:
      return pack_groups(codes, bits, out);
  }
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

// Reads codes from any bit on. A code lies in the 8 bytes from its first one; at the end of
// `bytes`, in those that are left.
void unpack_bits(std::string_view bytes, std::size_t bit, int bits, std::span<std::uint32_t> out) {
  const std::uint64_t mask = mask_of(bits);
  for (std::uint32_t& code : out) {
    const std::size_t at = bit / 8;
    std::uint64_t word = 0;
    if (at + 8 <= bytes.size())
      std::memcpy(&word, bytes.data() + at, 8);
    else
      std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    code = static_cast<std::uint32_t>((word >> (bit % 8)) & mask);
    bit += static_cast<std::size_t>(bits);
  }
}

// `out` starts at a byte and, for parts of bytes, ends at one.
bool unpack_whole(const char* bytes, int bits, std::span<std::uint32_t> out) {
  switch (bits) {
    case 1:
      return unpack_parts<1>(bytes, out), true;
    case 2:
      return unpack_parts<2>(bytes, out), true;
    case 4:
      return unpack_parts<4>(bytes, out), true;
    case 8:
      return unpack_words<std::uint8_t>(bytes, out), true;
    case 16:
      return unpack_words<std::uint16_t>(bytes, out), true;
    case 32:
      return unpack_words<std::uint32_t>(bytes, out), true;
    default:
      return false;
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
  if (out.empty()) return;
  const std::size_t width = static_cast<std::size_t>(bits_), bit = first * width;
  std::size_t done = 0;
  if (bit % 8 == 0) {
    const std::size_t whole = out.size() - out.size() % 8;
    if (unpack_whole(bytes_.data() + bit / 8, bits_, out.first(whole))) done = whole;
  }
  unpack_bits(bytes_, bit + done * width, bits_, out.subspan(done));
}

CodePacker::CodePacker(int bits, std::size_t expected) : bits_(bits) {
  check_bits(bits);
  bytes_.reserve(bytes_for(bits, expected));
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
  const std::size_t start = bytes_.size();
  bytes_.resize(start + bytes_for(bits_, codes.size()));
  pack_whole(codes, bits_, bytes_.data() + start);
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
