// SPDX-License-Identifier: Apache-2.0
// What a crash says: the operator or the pass that ran, and whose fault it is.
#pragma once

#include <string_view>

namespace mase {

/// While it lives, a crash of this thread names what is running. The texts must outlive it.
class Running {
 public:
  enum class Kind { model_operator, reading, pass };
  /// `name`: of the operator, file or pass; `place`: the node that runs it, or empty.
  Running(Kind kind, const char* name, const char* place = "");
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// The node that this thread works on from now on; a crash of a pass names it.
  static void look_at(std::string_view node) noexcept;

  struct What {
    Kind kind;
    const char* name;  ///< null: nothing that has a name
    const char* place;
  };

 private:
  What before_;
};

/// From now on a fatal signal (an invalid access, a division by zero, an abort) writes one line to
/// `descriptor` and ends the process: with exit code 3 in an operator of a model and while a file
/// is read, since what they work on comes from the file, else with 5.
void report_crashes(int descriptor = 2);

}  // namespace mase
