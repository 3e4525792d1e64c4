// SPDX-License-Identifier: Apache-2.0
// The equations of torch.einsum, which name the dimensions of its operands by letters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"

namespace mase::passes {

/// "bld,df->blf" is {{"bld", "df"}, "blf"}. The dimensions of an ellipsis have digits for letters,
/// 0 the last one.
struct EinsumEquation {
  std::vector<std::string> operands;
  std::string result;
};

/// `ranks`: dimensions of each operand. A result that the equation leaves out has the ellipsis and
/// the letters that occur once, capitals first (torch.einsum). Error(Fault::unsupported) naming the
/// equation where it is malformed or does not fit the ranks.
EinsumEquation einsum_equation(std::string_view text, const std::vector<std::size_t>& ranks);

/// Multiply-accumulates where the operands are joined one after the other and what nothing reads
/// any more is summed at once, as torch does it; 0 with a single operand.
double einsum_macs(const EinsumEquation& equation, const std::vector<Shape>& shapes);

}  // namespace mase::passes
