// SPDX-License-Identifier: Apache-2.0
// Identifiers of a design in the emitted text: the graph's names, made legal and unique.
#pragma once

#include <string>
#include <vector>

#include "hardware/design/design.hpp"

namespace mase::emit {

/// All names that one emitted top declares. Streams and instances keep their names. A name that
/// is not an identifier, is a keyword, or is taken already gets a '_' or a number.
struct Names {
  std::string top;
  std::vector<std::string> streams;    ///< by StreamId; signals are <name>_valid, _ready, _data
  std::vector<std::string> instances;  ///< by position
};

Names names_of(const design::Design& design);

}  // namespace mase::emit
