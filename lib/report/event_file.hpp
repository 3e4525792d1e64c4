// SPDX-License-Identifier: Apache-2.0
// TensorBoard event files: scalar curves that TensorBoard shows.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace mase::report {

/// Appends scalar events to `<folder>/events.out.tfevents.<time>.<host>`. The file is a sequence of
/// TFRecords (length, masked CRC-32C of the length, data, masked CRC-32C of the data), each holding
/// one tensorflow.Event message.
class EventFile {
 public:
  explicit EventFile(const std::string& folder);  ///< creates the folder; Error(Fault::file)
  void scalar(std::string_view tag, std::int64_t step, double value);
  void flush();

 private:
  void record(const std::string& message);
  std::string path_;
  std::ofstream out_;
};

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace mase::report
