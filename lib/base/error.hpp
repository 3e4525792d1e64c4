// SPDX-License-Identifier: Apache-2.0
// The program's exceptions: what went wrong and whose fault it was, which determines the exit
// code.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace mase {

/// Whose fault an error is; the value is the process's exit code (architecture.md, section 6).
enum class Fault : int {
  goal = 1,           ///< a goal was not met (accuracy gate, mismatch); the result was printed
  config = 2,         ///< the user's configuration or command line
  file = 3,           ///< a model, data or output file
  unsupported = 4,    ///< an op or format that is not supported
  internal = 5,       ///< a defect of this program
  interrupted = 130,  ///< Ctrl-C, SIGTERM or SIGHUP; 128 + SIGINT, as shells do
};

/// The only exception type that is thrown on purpose. Its message says what, where and what to try.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const { return fault_; }
  int exit_code() const { return static_cast<int>(fault_); }

 private:
  Fault fault_;
};

[[noreturn]] inline void config_error(const std::string& message) {
  throw Error(Fault::config, message);
}
[[noreturn]] inline void file_error(const std::string& message) {
  throw Error(Fault::file, message);
}
[[noreturn]] inline void unsupported_error(const std::string& message) {
  throw Error(Fault::unsupported, message);
}

/// Throws an internal error; called by MASE_CHECK only.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               std::string_view message);

}  // namespace mase

/// Checks an invariant that only a defect of this program can break; `message` names pass and node.
#define MASE_CHECK(condition, message)                                               \
  do {                                                                               \
    if (!(condition)) ::mase::check_failed(#condition, __FILE__, __LINE__, message); \
  } while (false)
