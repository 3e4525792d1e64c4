// SPDX-License-Identifier: Apache-2.0
// Event files: checksums by a published vector, and the record structure read back by its
// definition.
#include "report/event_file.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "base/file.hpp"
#include "support/temporary_folder.hpp"

namespace mase::report {
namespace {

template <class T>
T read_at(const std::string& bytes, std::size_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

/// The data of every record; checks both checksums of each.
std::vector<std::string> records(const std::string& bytes) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto length = read_at<std::uint64_t>(bytes, at);
    CHECK(read_at<std::uint32_t>(bytes, at + 8) == masked(crc32c(bytes.substr(at, 8))));
    found.push_back(bytes.substr(at + 12, length));
    CHECK(read_at<std::uint32_t>(bytes, at + 12 + length) == masked(crc32c(found.back())));
    at += 16 + length;
  }
  return found;
}

}  // namespace

TEST_CASE("the checksum is CRC-32C") {
  // The check value of the Castagnoli polynomial, and RFC 3720 B.4: 32 bytes of zeros.
  CHECK(crc32c("123456789") == 0xE3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8A9136AAu);
}

TEST_CASE("an event file begins with its version and holds one record per scalar") {
  const test::TemporaryFolder folder;
  {
    EventFile file(folder.path());
    file.scalar("loss", 300, 0.5);
    file.flush();
  }
  const auto path = std::filesystem::directory_iterator(folder.path())->path();
  const auto found = records(read_file(path.string()));
  REQUIRE(found.size() == 2);
  CHECK(found[0].find("brain.Event:2") != std::string::npos);
  // wall_time (9 bytes), field 2 varint 300 = AC 02, field 5 of 13 bytes: field 1 of 11 bytes:
  // tag (field 1, 4 bytes), simple_value (field 2, float 0.5 = 00 00 00 3F).
  const std::string wanted("\x10\xAC\x02\x2A\x0D\x0A\x0B\x0A\x04loss\x15\x00\x00\x00\x3F", 18);
  CHECK(found[1].substr(9) == wanted);
}

}  // namespace mase::report
