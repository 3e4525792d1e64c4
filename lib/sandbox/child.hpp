// SPDX-License-Identifier: Apache-2.0
// Runs work in a child process, so that a crash ends only that work.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace mase::sandbox {

/// A file in memory that a child writes and its parent reads, for results that are more than a
/// text.
class SharedFile {
 public:
  SharedFile();

  void append(std::span<const std::byte> bytes);  ///< Error(Fault::file)
  void take(std::span<std::byte> bytes);          ///< the next bytes; Error(Fault::file) at the end
  std::size_t left() const;                       ///< bytes that `take` has not given yet

 private:
  Descriptor file_;
  std::size_t read_ = 0;
};

/// Runs `work` in a forked process with `keep_reading_only`, and waits for it. An Error thrown by
/// `work` is thrown here. A crash, lack of memory, or more than `seconds` (0: no limit) gives an
/// Error(Fault::file) that begins with `what`. The child is ended when this process ends or is
/// asked to stop. No other thread of this process may be running.
void run_in_child(const std::string& what, double seconds, const std::function<void()>& work);

}  // namespace mase::sandbox
