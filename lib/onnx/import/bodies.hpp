// SPDX-License-Identifier: Apache-2.0
// Bodies of control flow. A graph has no loops, so that a body is imported once for every turn.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "onnx/import/call.hpp"

namespace mase::onnx {

/// The inner graph that an attribute of the node holds.
const Graph& body_of(const Call& call, std::string_view attribute);

/// Imports an inner graph in the place of its node, and returns what its outputs are.
std::vector<Operand> import_branch(Call& call, const Graph& body);

/// The turns of a loop: each one imports a copy of the body, whose names are its own.
class Turns {
 public:
  Turns(Call& call, const Graph& body) : call_(call), body_(body) {}
  /// Imports the body once more, with these values for its inputs; returns its outputs. Error when
  /// the loop would have too many turns.
  std::vector<Operand> next(std::vector<Operand> inputs);

 private:
  Call& call_;
  const Graph& body_;
  std::int64_t count_ = 0;
};

/// Tensors of all turns as one, along a new dimension. Single numbers stay numbers.
Operand stacked(Call& call, const std::vector<Operand>& items, std::int64_t dim);

}  // namespace mase::onnx
