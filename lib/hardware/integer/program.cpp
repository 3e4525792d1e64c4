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

}  // namespace mase::integer
