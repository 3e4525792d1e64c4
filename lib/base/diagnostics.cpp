// SPDX-License-Identifier: Apache-2.0
// Collecting, ordering and printing diagnostics.
#include "base/diagnostics.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase {

std::string SourceLocation::text() const {
  if (file.empty() || line == 0) return file;
  std::string out = file + ":" + std::to_string(line);
  if (column != 0) out += ":" + std::to_string(column);
  return out;
}

std::string Diagnostic::text() const {
  const std::string place = where.text();
  const char* kind = severity == Severity::error ? "error: " : "warning: ";
  return (place.empty() ? "" : place + ": ") + kind + message;
}

void Diagnostics::error(SourceLocation where, std::string message) {
  all_.push_back({Severity::error, std::move(where), std::move(message)});
}

void Diagnostics::warning(SourceLocation where, std::string message) {
  all_.push_back({Severity::warning, std::move(where), std::move(message)});
}

bool Diagnostics::has_errors() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Diagnostic& one) { return one.severity == Severity::error; });
}

std::string Diagnostics::text() const {
  std::vector<const Diagnostic*> ordered;
  for (const Diagnostic& one : all_) ordered.push_back(&one);
  const auto place = [](const Diagnostic* one) {
    return std::tie(one->where.file, one->where.line, one->where.column);
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const auto* a, const auto* b) { return place(a) < place(b); });
  std::set<std::string> said;
  std::vector<std::string> lines;
  for (const Diagnostic* one : ordered)
    if (const std::string line = one->text(); said.insert(line).second) lines.push_back(line);
  return join(lines, "\n");
}

void Diagnostics::throw_if_errors() const {
  if (has_errors()) throw DiagnosticsError(text());
}

}  // namespace mase
