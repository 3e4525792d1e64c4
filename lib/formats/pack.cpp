// Packed storage of codes, least significant bit first (formats.md, storage).
#include "base/error.hpp"
#include "formats/format.hpp"

namespace mase::formats {
namespace {

void check_bits(int bits) { MASE_CHECK(bits >= 1 && bits <= 32, "code width not in 1 .. 32"); }

std::uint64_t mask_of(int bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

std::string pack_codes(std::span<const std::uint32_t> codes, int bits) {
  check_bits(bits);
  std::string bytes;
  bytes.reserve((codes.size() * static_cast<std::size_t>(bits) + 7) / 8);
  std::uint64_t pending = 0;  // at most 7 bits stay between two codes
  int pending_bits = 0;
  for (const std::uint32_t code : codes) {
    pending |= (code & mask_of(bits)) << pending_bits;
    for (pending_bits += bits; pending_bits >= 8; pending_bits -= 8, pending >>= 8)
      bytes.push_back(static_cast<char>(pending & 0xff));
  }
  if (pending_bits > 0) bytes.push_back(static_cast<char>(pending));
  return bytes;
}

std::vector<std::uint32_t> unpack_codes(std::string_view bytes, int bits, std::size_t count) {
  check_bits(bits);
  if (count > bytes.size() * 8 / static_cast<std::size_t>(bits))
    file_error(std::to_string(bytes.size()) + " bytes are too few for " + std::to_string(count) +
               " codes of " + std::to_string(bits) + " bits");
  std::vector<std::uint32_t> codes(count);
  std::uint64_t pending = 0;
  int pending_bits = 0;
  std::size_t next = 0;
  for (std::uint32_t& code : codes) {
    for (; pending_bits < bits; pending_bits += 8)
      pending |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[next++]))
                 << pending_bits;
    code = static_cast<std::uint32_t>(pending & mask_of(bits));
    pending >>= bits;
    pending_bits -= bits;
  }
  return codes;
}

}  // namespace mase::formats
