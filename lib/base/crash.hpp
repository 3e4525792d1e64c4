// SPDX-License-Identifier: Apache-2.0
// The message of a crash: it names the operator or pass that ran, and says whose fault it is.
#pragma once

#include <string_view>

namespace mase {

/// While this object lives, a crash of its thread names what is running. The texts must outlive it.
class Running {
 public:
  enum class Kind { model_operator, reading, pass };
  /// `name` is that of the operator, file or pass; `place` is the node that runs it, or empty.
  Running(Kind kind, const char* name, const char* place = "");
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Sets the node that this thread works on now; a crash of a pass names it.
  static void look_at(std::string_view node) noexcept;

  struct What {
    Kind kind;
    const char* name;  ///< null when nothing with a name is running
    const char* place;
  };

 private:
  What before_;
};

/// After this call a fatal signal (an invalid access, a division by zero, an abort) writes one line
/// to `descriptor` and ends the process. The exit code is 3 in an operator of a model and while a
/// file is read, because both work on data from a file; otherwise it is 5.
void report_crashes(int descriptor = 2);

}  // namespace mase
