// SPDX-License-Identifier: Apache-2.0
// Packed codes of equal width, as which quantized tensors are stored (formats.md, storage).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mase::formats {

/// `size()` codes of `bits()` each, LSB first: code 0 in the low bits of byte 0.
class PackedCodes {
 public:
  PackedCodes() = default;
  /// Takes stored bytes; Error(Fault::file) when their number does not fit the codes.
  PackedCodes(std::string bytes, int bits, std::size_t size);

  int bits() const { return bits_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::string& bytes() const { return bytes_; }
  /// All codes, each in the low bits of a number.
  std::vector<std::uint32_t> unpack() const;
  /// The codes [first, first + out.size()).
  void unpack(std::size_t first, std::span<std::uint32_t> out) const;
  /// The codes first, first + stride, ...
  void unpack(std::size_t first, std::span<std::uint32_t> out, std::size_t stride) const;

  bool operator==(const PackedCodes&) const = default;

 private:
  std::string bytes_;
  int bits_ = 0;
  std::size_t size_ = 0;
};

/// Packs a stream of codes that arrives in pieces.
class CodePacker {
 public:
  CodePacker(int bits, std::size_t expected);
  /// Appends codes; bits of a code above `bits` are ignored.
  void append(std::span<const std::uint32_t> codes);
  PackedCodes finish();

 private:
  void append_whole(std::span<const std::uint32_t> codes);  ///< a multiple of 8, nothing pending
  void append_one(std::uint32_t code);

  std::string bytes_;
  int bits_;
  std::size_t size_ = 0;
  std::uint64_t pending_ = 0;  ///< fewer than 8 bits between two calls
  int pending_bits_ = 0;
};

PackedCodes pack_codes(std::span<const std::uint32_t> codes, int bits);

}  // namespace mase::formats
