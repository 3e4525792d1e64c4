// SPDX-License-Identifier: Apache-2.0
// Signatures of ATen operators: names, order, types and defaults of arguments, and which arguments
// an operator changes. They are those of PyTorch's registry, so that importers and exporters know
// them without LibTorch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/value.hpp"

namespace mase::ir {

/// An argument or a result of an operator.
struct SchemaPart {
  std::string type;      ///< without size and aliasing: "Tensor", "Tensor?", "SymInt[]", "Scalar"
  std::string alias;     ///< the memory that it may share with others, "a"; "" if none
  bool changes = false;  ///< the operator writes to this memory
};

struct SchemaArgument : SchemaPart {
  std::string name;
  bool keyword_only = false;
  bool has_default = false;
  Value fallback;  ///< the default; a list where the type is one
  int list_size =
      0;  ///< one number stands for so many of them ("SymInt[2] stride=1"); 0 for others

  bool is_tensor() const { return type.starts_with("Tensor"); }
  bool is_list() const { return type.find("[]") != std::string::npos; }
};

struct OpSchema {
  std::string op;  ///< "aten::add.Tensor"
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaPart> results;

  const SchemaArgument* find(std::string_view name) const;
};

/// The signature of an operator ("aten::add.Tensor", "aten::relu_"), or nullptr when the table does
/// not have it. The table has the operators on tensors that models may run (allowed_operators.hpp).
/// Thread-safe.
const OpSchema* find_schema(std::string_view op);

/// The lines of the table, "add.Tensor(Tensor self, ...) -> Tensor", sorted.
const std::vector<std::string_view>& schema_lines();

}  // namespace mase::ir
