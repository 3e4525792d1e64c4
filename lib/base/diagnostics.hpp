// SPDX-License-Identifier: Apache-2.0
// Errors and warnings about a user's text, collected so that one run prints all of them.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace mase {

/// A place in a text file. Line and column count from 1; line 0 means the file as a whole.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  std::string text() const;  ///< `x.toml:3:16`, `x.toml`, or "" when there is no file
};

enum class Severity { warning, error };

/// One problem with a text, and where it is.
struct Diagnostic {
  Severity severity = Severity::error;
  SourceLocation where;
  std::string message;

  std::string text() const;  ///< `x.toml:3:16: error: unknown option ...`
};

/// A fault of a configuration; each line of its message has a place and a severity.
class DiagnosticsError : public Error {
 public:
  explicit DiagnosticsError(const std::string& message) : Error(Fault::config, message) {}
};

/// Collects diagnostics; the caller ends the phase with `throw_if_errors`.
class Diagnostics {
 public:
  void error(SourceLocation where, std::string message);
  void warning(SourceLocation where, std::string message);

  bool has_errors() const;
  const std::vector<Diagnostic>& all() const { return all_; }
  /// One line per diagnostic, in source order; a line that several readers add appears once.
  std::string text() const;

  /// If there is an error, throws DiagnosticsError with all diagnostics in its message.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace mase
