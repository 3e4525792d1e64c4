// Python signatures of the torch.nn.functional functions that are written in Python: torch.fx shows
// their optional arguments as keywords with the defaults filled in.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/value.hpp"

namespace mase::ir {

struct PythonParameter {
  std::string_view name;  ///< Python's name
  std::string_view aten;  ///< the operator's argument; empty when the operator has none for it
  bool required = false;  ///< required parameters are shown as positional
  Value fallback;         ///< Python's default
};

/// The signature of a call target, or nullptr when it is a built-in function without one.
const std::vector<PythonParameter>* python_signature(std::string_view target);

}  // namespace mase::ir
