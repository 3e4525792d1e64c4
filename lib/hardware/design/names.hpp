// SPDX-License-Identifier: Apache-2.0
// Names in emitted text: graph names made legal and unique as SystemVerilog identifiers.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace mase::design {

/// Whether a word is a keyword of IEEE 1800-2017 (annex B).
bool is_reserved(std::string_view word);

/// `name` as an identifier: other characters than [A-Za-z0-9_] become `_`, a leading digit gets `_`
/// in front, a keyword `_` behind. In a name longer than `longest_identifier` the end gives way to
/// a hash of the whole.
std::string legal_identifier(std::string_view name);

/// With what is put in front and behind, still a name for a file.
inline constexpr std::size_t longest_identifier = 100;

/// Words as they are written.
using Words = std::set<std::string, std::less<>>;

/// The names of one module scope; `clk` and `rst` are taken from the start. No two names differ in
/// case alone, since files are named after them.
class Names {
 public:
  Names() = default;
  /// `words`: names that no instance gets.
  explicit Names(Words words) : words_(std::move(words)) {}

  /// A legal name not given before; a taken one gets `_1`, `_2`, ...
  std::string instance(std::string_view wanted);
  /// The same for a stream `x`, whose signals are x_valid, x_ready and x_data.
  std::string stream(std::string_view wanted);

 private:
  bool is_free(const std::string& name) const;
  void take(const std::string& name);

  Words words_;
  Words taken_{"clk", "rst"}, streams_;  ///< in lower case
};

}  // namespace mase::design
