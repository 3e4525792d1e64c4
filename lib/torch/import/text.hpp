// SPDX-License-Identifier: Apache-2.0
// What the original Python text of a call says about how it was written.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace mase::libtorch {

/// Where an operator came from: the original Python when the file still has it.
struct SourceText {
  std::string place;  ///< "fixture_nets.py:310", or "" when unknown
  std::string text;   ///< script: the expression's beginning; trace: the Python stack
};

/// How torch.fx would show a call.
struct Spelling {
  ir::NodeKind kind = ir::NodeKind::call_function;
  std::string target;
};

/// The spelling of ATen operator `base` ("aten::add"): from the text when it is clear
/// (`torch.add(`, `x.add(`, `x + y`; a trace's stack that ends in torch.nn.functional), else from
/// the op table.
Spelling spelling_of(std::string_view base, const SourceText& source);

/// A functional's name as users write it: "__torch__.torch.nn.functional._max_pool2d" →
/// "torch.nn.functional.max_pool2d".
std::string function_target(std::string_view qualified_name);

/// A type's Python path: "__torch__.a.___torch_mangle_3.B" → "a.B".
std::string demangled(std::string_view type_name);

/// "aten::relu_" → "aten::relu": the out-of-place operator of an in-place one ("aten::__and__" and
/// names without the trailing underscore stay).
std::string out_of_place(std::string_view base);

}  // namespace mase::libtorch
