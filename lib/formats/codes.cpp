// Packing and unpacking of codes, least significant bit first (formats.md, storage).
#include "formats/codes.hpp"

#include "base/error.hpp"

namespace mase::formats {
namespace {

void check_bits(int bits) { MASE_CHECK(bits >= 1 && bits <= 32, "code width not in 1 .. 32"); }

std::uint64_t mask_of(int bits) { return (std::uint64_t{1} << bits) - 1; }

std::size_t bytes_for(int bits, std::size_t size) {
  return (size * static_cast<std::size_t>(bits) + 7) / 8;
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
  const std::size_t start = first * static_cast<std::size_t>(bits_);
  std::size_t next = start / 8;
  std::uint64_t pending = 0;
  int pending_bits = -static_cast<int>(start % 8);  // bits of the first byte that are skipped
  for (std::uint32_t& code : out) {
    for (; pending_bits < bits_; pending_bits += 8) {
      const auto byte = static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[next++]));
      pending |= pending_bits < 0 ? byte >> -pending_bits : byte << pending_bits;
    }
    code = static_cast<std::uint32_t>(pending & mask_of(bits_));
    pending >>= bits_;
    pending_bits -= bits_;
  }
}

CodePacker::CodePacker(int bits, std::size_t expected) : bits_(bits) {
  check_bits(bits);
  bytes_.reserve(bytes_for(bits, expected));
}

void CodePacker::append(std::span<const std::uint32_t> codes) {
  for (const std::uint32_t code : codes) {
    pending_ |= (code & mask_of(bits_)) << pending_bits_;
    for (pending_bits_ += bits_; pending_bits_ >= 8; pending_bits_ -= 8, pending_ >>= 8)
      bytes_.push_back(static_cast<char>(pending_ & 0xff));
  }
  size_ += codes.size();
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
