// SPDX-License-Identifier: Apache-2.0
// Recovers from the original Python source how a call was written.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// The origin of an operator in the Python source, if the file still has the source.
struct SourceText {
  std::string place;  ///< "fixture_nets.py:310", or "" if unknown
  std::string text;   ///< script: start of the expression; trace: the Python stack
};

/// How torch.fx would show a call.
struct Spelling {
  ir::NodeKind kind = ir::NodeKind::call_function;
  std::string target;
};

/// The spelling of ATen operator `base` ("aten::add"). It follows from the source if that is clear
/// (`torch.add(`, `x.add(`, `x + y`; a trace's stack that ends in torch.nn.functional), otherwise
/// from the op table.
Spelling spelling_of(std::string_view base, const SourceText& source);

/// The name of a functional as users write it: "__torch__.torch.nn.functional._max_pool2d" →
/// "torch.nn.functional.max_pool2d".
std::string function_target(std::string_view qualified_name);

/// The Python path of a type: "__torch__.a.___torch_mangle_3.B" → "a.B".
std::string demangled(std::string_view type_name);

}  // namespace mase::libtorch
