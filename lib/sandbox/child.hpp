// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own, whose crash ends nothing but the work.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/descriptor.hpp"

namespace mase::sandbox {

/// A file in memory that a child writes and its parent reads: the result of work that needs more
/// than a text.
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

/// Runs `work` in a forked process with `keep_reading_only`, and waits. An Error that it throws is
/// thrown here; its crash, too much memory, and more than `seconds` (0: no limit) are an
/// Error(Fault::file) that begins with `what`. Ends the child when this process ends, or is asked
/// to stop. No other thread of this process may run.
void run_in_child(const std::string& what, double seconds, const std::function<void()>& work);

}  // namespace mase::sandbox
