// SPDX-License-Identifier: Apache-2.0
// Questions about a program.
#include "hardware/integer/program.hpp"

#include <algorithm>

namespace mase::integer {
namespace {

struct Namer {
  std::string operator()(const Cast&) const { return "cast"; }
  std::string operator()(const Linear&) const { return "linear"; }
  std::string operator()(const Convolution& convolution) const {
    return convolution.groups == convolution.window.channels && convolution.groups > 1
               ? "depthwise"
               : "convolution";
  }
  std::string operator()(const ScaleShift&) const { return "scale_shift"; }
  std::string operator()(const ChannelShift&) const { return "channel_shift"; }
  std::string operator()(const Lookup& lookup) const { return lookup.function; }
  std::string operator()(const Pool& pool) const {
    return pool.kind == PoolKind::max ? "max_pool" : "sum_pool";
  }
  std::string operator()(const Binary& binary) const {
    switch (binary.kind) {
      case BinaryKind::add:
        return "add";
      case BinaryKind::subtract:
        return "subtract";
      case BinaryKind::multiply:
        return "multiply";
      case BinaryKind::maximum:
        return "maximum";
      case BinaryKind::minimum:
        return "minimum";
    }
    return "";
  }
  std::string operator()(const Concat&) const { return "concat"; }
  std::string operator()(const Slice&) const { return "slice"; }
  std::string operator()(const Gather&) const { return "gather"; }
  std::string operator()(const ArgMax&) const { return "argmax"; }
  std::string operator()(const Quotient&) const { return "divide"; }
  std::string operator()(const MatrixProduct&) const { return "matmul"; }
  std::string operator()(const RowReduce& reduce) const {
    return reduce.kind == PoolKind::max ? "row_max" : "row_sum";
  }
  std::string operator()(const Repeat&) const { return "repeat"; }
  std::string operator()(const SquareRoot&) const { return "sqrt"; }
  std::string operator()(const Insert&) const { return "insert"; }
  std::string operator()(const Embedding&) const { return "embedding"; }
  std::string operator()(const Piecewise& pieces) const { return pieces.function; }
};

}  // namespace

std::string operation_name(const Operation& operation) { return std::visit(Namer{}, operation); }

std::vector<int> Program::consumers(ValueId id) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (std::ranges::find(steps[i].inputs, id) != steps[i].inputs.end())
      found.push_back(static_cast<int>(i));
  return found;
}

bool only_moves(const Operation& operation) {
  return std::holds_alternative<Concat>(operation) || std::holds_alternative<Slice>(operation) ||
         std::holds_alternative<Gather>(operation) || std::holds_alternative<Repeat>(operation) ||
         std::holds_alternative<Insert>(operation);
}

}  // namespace mase::integer
