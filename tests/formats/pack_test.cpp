// SPDX-License-Identifier: Apache-2.0
// Packed storage of codes.
#include <catch2/catch.hpp>

#include "base/random.hpp"
#include "formats/format.hpp"
#include "formats/pack_kernel.hpp"

using namespace mase;
using namespace mase::formats;

TEST_CASE("packed codes are stored LSB first") {
  using Codes = std::vector<std::uint32_t>;
  CHECK(pack_codes(Codes{0x1, 0x2, 0xf}, 4).bytes() == std::string("\x21\x0f"));
  // 3 bits each: 5 = 101, 3 = 011, 6 = 110 -> bits 110 011 101 from the top.
  CHECK(pack_codes(Codes{5, 3, 6}, 3).bytes() == std::string("\x9d\x01"));
  CHECK(pack_codes(Codes{0x80000001U}, 32).bytes() == std::string("\x01\x00\x00\x80", 4));
  CHECK(pack_codes(Codes{}, 7).empty());
}

TEST_CASE("packing ignores bits above the code") {
  CHECK(pack_codes(std::vector<std::uint32_t>{0xfffffff1U, 0x2U}, 4).bytes() ==
        std::string("\x21"));
}

TEST_CASE("unpacking gives back the codes for every width and count") {
  Random random(21);
  for (int bits = 1; bits <= 32; ++bits)
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<std::uint32_t> codes(count);
      for (std::uint32_t& code : codes) code = random.next_u32() >> (32 - bits);
      const PackedCodes packed = pack_codes(codes, bits);
      CHECK(packed.bytes().size() == (count * bits + 7) / 8);
      CHECK(PackedCodes(packed.bytes(), bits, count).unpack() == codes);
    }
}

TEST_CASE("codes are unpacked from any place") {
  Random random(22);
  for (int bits = 1; bits <= 32; ++bits) {
    std::vector<std::uint32_t> codes(37);
    for (std::uint32_t& code : codes) code = random.next_u32() >> (32 - bits);
    const PackedCodes packed = pack_codes(codes, bits);
    for (std::size_t first = 0; first < codes.size(); ++first) {
      std::vector<std::uint32_t> part(codes.size() - first);
      packed.unpack(first, part);
      CHECK(std::equal(part.begin(), part.end(), codes.begin() + first));
    }
  }
}

namespace {

// Bit j of code i is bit i * bits + j of the stream.
std::string packed_bit_by_bit(const std::vector<std::uint32_t>& codes, int bits) {
  const auto width = static_cast<std::size_t>(bits);
  std::string bytes((codes.size() * width + 7) / 8, '\0');
  for (std::size_t i = 0; i < codes.size(); ++i)
    for (std::size_t j = 0; j < width; ++j)
      if ((codes[i] >> j) & 1U)
        bytes[(i * width + j) / 8] |= static_cast<char>(1 << (i * width + j) % 8);
  return bytes;
}

}  // namespace

TEST_CASE("long streams of every width are packed in pieces of any size") {
  Random random(23);
  for (int bits = 1; bits <= 32; ++bits) {
    std::vector<std::uint32_t> codes(20011);
    for (std::uint32_t& code : codes) code = random.next_u32();  // with bits above the code
    const std::string expected = packed_bit_by_bit(codes, bits);
    CHECK(pack_codes(codes, bits).bytes() == expected);
    CodePacker packer(bits, codes.size());
    for (std::size_t first = 0; first < codes.size();) {
      const std::size_t count = std::min(codes.size() - first, std::size_t{random.below(700)});
      packer.append(std::span<const std::uint32_t>(codes).subspan(first, count));
      first += count;
    }
    const PackedCodes packed = packer.finish();
    CHECK(packed.bytes() == expected);
    for (std::uint32_t& code : codes) code &= 0xffffffffU >> (32 - bits);
    CHECK(packed.unpack() == codes);
  }
}

TEST_CASE("pack kernels of all sets pack and unpack the bits of the definition") {
  Random random(24);
  std::vector<std::uint32_t> codes(8 * kernels::pack_group), unpacked(codes.size());
  for (int bits = 1; bits <= 32; ++bits) {
    for (std::uint32_t& code : codes) code = random.next_u32();  // with bits above the code
    const std::string expected = packed_bit_by_bit(codes, bits);
    for (const simd::Isa isa : simd::available_isas()) {
      INFO(bits << " bits on " << simd::isa_name(isa));
      const kernels::PackKernels& kernels = kernels::pack_kernels(isa);
      std::string packed(expected.size() + kernels::pack_padding, '\0');
      const auto pack = kernels.pack[static_cast<std::size_t>(bits - 1)];
      if (pack) {
        pack(codes.data(), codes.size(), packed.data());
        CHECK(packed.substr(0, expected.size()) == expected);
      }
      if (!kernels.unpack) continue;
      const std::size_t done =
          kernels.unpack(expected.data(), expected.size(), bits, unpacked.data(), unpacked.size());
      // But for the bytes where a vector would read too far.
      CHECK((unpacked.size() - done) * static_cast<std::size_t>(bits) < 8 * 64);
      for (std::size_t i = 0; i < done; ++i)
        if (unpacked[i] != (codes[i] & (0xffffffffU >> (32 - bits)))) FAIL("code " << i);
    }
  }
}

TEST_CASE("codes are unpacked in steps") {
  Random random(25);
  for (int bits = 1; bits <= 32; ++bits) {
    std::vector<std::uint32_t> codes(1000), part(13);
    for (std::uint32_t& code : codes) code = random.next_u32() >> (32 - bits);
    const PackedCodes packed = pack_codes(codes, bits);
    packed.unpack(27, part, 81);  // up to the last code
    for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == codes[27 + 81 * i]);
    CHECK_THROWS(packed.unpack(28, part, 81));
  }
}

TEST_CASE("bytes that are not those of the codes are refused") {
  CHECK_THROWS_WITH(PackedCodes("ab", 8, 3), Catch::Contains("do not hold 3"));
  CHECK_THROWS_WITH(PackedCodes("abc", 8, 2), Catch::Contains("do not hold 2"));
  CHECK_THROWS_WITH(PackedCodes("ab", 32, std::size_t{1} << 62), Catch::Contains("do not hold"));
}
