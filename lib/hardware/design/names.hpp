// SPDX-License-Identifier: Apache-2.0
// Names in emitted text: graph names made legal and unique as SystemVerilog identifiers.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace mase::design {

/// Whether a word is a keyword of IEEE 1800-2017 (annex B).
bool is_reserved(std::string_view word);

/// `name` as an identifier: other characters than [A-Za-z0-9_] become `_`, a leading digit gets `_`
/// in front, a keyword `_` behind.
std::string legal_identifier(std::string_view name);

/// The names of one module scope; `clk` and `rst` are taken from the start.
class Names {
 public:
  /// A legal name not given before; a taken one gets `_1`, `_2`, ...
  std::string instance(std::string_view wanted);
  /// The same for a stream `x`, whose signals are x_valid, x_ready and x_data.
  std::string stream(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_{"clk", "rst"}, streams_;
};

}  // namespace mase::design
