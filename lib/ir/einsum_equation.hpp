// SPDX-License-Identifier: Apache-2.0
// The equations of torch.einsum, in which letters name the dimensions of the operands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"

namespace mase::ir {

/// An equation: "bld,df->blf" is {{"bld", "df"}, "blf"}. Digits stand for the dimensions of an
/// ellipsis; 0 is the last one.
struct EinsumEquation {
  std::vector<std::string> operands;
  std::string result;
};

/// Parses an equation for operands with these ranks. A result that it leaves out has the ellipsis
/// and the letters that occur once, capitals first (torch.einsum). Error(Fault::unsupported) names
/// an equation that is malformed or does not fit the ranks.
EinsumEquation einsum_equation(std::string_view text, const std::vector<std::size_t>& ranks);

/// Multiply-accumulates when operands are joined one after another and letters that are no longer
/// needed are summed at once, as torch does; 0 for a single operand.
double einsum_macs(const EinsumEquation& equation, const std::vector<Shape>& shapes);

}  // namespace mase::ir
