// SPDX-License-Identifier: Apache-2.0
// The few protobuf fields of an Event are written by hand: wall_time (1, double), step (2, int64),
// file_version (3, string) and summary (5) with values (1) of tag (1) and simple_value (2, float).
#include "report/event_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/writing_inside.hpp"

namespace mase::report {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) ? (c >> 1) ^ 0x82F63B78u : c >> 1;
    table[i] = c;
  }
  return table;
}

/// TFRecord stores checksums rotated and offset, so that a checksum of checksums stays useful.
std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
  return out;
}

enum Wire { varint_wire = 0, double_wire = 1, bytes_wire = 2, float_wire = 5 };
std::string key(int field, Wire wire) {
  return varint(static_cast<std::uint64_t>(field) << 3 | wire);
}
std::string bytes_field(int field, std::string_view bytes) {
  return key(field, bytes_wire) + varint(bytes.size()) + std::string(bytes);
}

double now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_epoch).count();
}

[[noreturn]] void fail_to_write(const std::string& path) {
  file_error("cannot write '" + path + "': " + std::strerror(errno != 0 ? errno : EIO));
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = crc_table();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (unsigned char byte : bytes) crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

EventFile::EventFile(const std::string& folder) {
  make_folder(folder);
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  path_ = place_to_write(folder) + "/events.out.tfevents." +
          std::to_string(static_cast<long>(now())) + "." + host.data() + "." + unique_suffix();
  out_.open(path_, std::ios::binary | std::ios::app);
  if (!out_) fail_to_write(path_);
  record(key(1, double_wire) + raw(now()) + bytes_field(3, "brain.Event:2"));
}

void EventFile::scalar(std::string_view tag, std::int64_t step, double value) {
  const std::string entry =
      bytes_field(1, tag) + key(2, float_wire) + raw(static_cast<float>(value));
  record(key(1, double_wire) + raw(now()) + key(2, varint_wire) +
         varint(static_cast<std::uint64_t>(step)) + bytes_field(5, bytes_field(1, entry)));
}

void EventFile::flush() {
  out_.flush();
  if (!out_) fail_to_write(path_);
}

void EventFile::record(const std::string& message) {
  const std::string length = raw(static_cast<std::uint64_t>(message.size()));
  out_ << length << raw(masked(crc32c(length))) << message << raw(masked(crc32c(message)));
}

}  // namespace mase::report
