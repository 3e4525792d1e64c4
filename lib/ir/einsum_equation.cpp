// SPDX-License-Identifier: Apache-2.0
// Splits an equation at its arrow and commas, and replaces each ellipsis by one digit for every
// further dimension of its operand.
#include "ir/einsum_equation.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::ir {
namespace {

constexpr std::string_view ellipsis = "...";
constexpr std::size_t most_digits = 10;

/// The last `count` of the digits that stand for dimensions of an ellipsis: "210".
std::string digits(std::size_t count) {
  std::string found;
  for (std::size_t i = count; i-- > 0;) found += static_cast<char>('0' + i);
  return found;
}

class EquationReader {
 public:
  explicit EquationReader(std::string_view text) : text_(text) {}

  EinsumEquation read(const std::vector<std::size_t>& ranks) {
    std::string plain(text_);
    std::erase(plain, ' ');
    const std::size_t arrow = plain.find("->");
    EinsumEquation equation;
    equation.operands = split(plain.substr(0, arrow), ',');
    if (equation.operands.size() != ranks.size()) refuse("a different number of operands");
    for (std::size_t i = 0; i < ranks.size(); ++i)
      equation.operands[i] = operand(equation.operands[i], ranks[i]);
    equation.result = arrow == std::string::npos ? implied(equation.operands)
                                                 : filled(plain.substr(arrow + 2), most_);
    return equation;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    unsupported_error("the einsum equation '" + std::string(text_) + "' has " + what);
  }

  std::string operand(const std::string& term, std::size_t rank) {
    const std::size_t letters =
        term.find(ellipsis) == std::string::npos ? term.size() : term.size() - 3;
    const std::size_t further = letters <= rank ? rank - letters : most_digits;
    if (further >= most_digits || (letters == term.size() && further > 0))
      refuse("the operand '" + term + "' for a tensor of " + std::to_string(rank) + " dimensions");
    most_ = std::max(most_, further);
    return filled(term, further);
  }

  /// A term with digits in place of its ellipsis; everything else must be letters.
  std::string filled(std::string term, std::size_t further) const {
    if (const std::size_t place = term.find(ellipsis); place != std::string::npos)
      term.replace(place, ellipsis.size(), digits(further));
    const bool known = std::ranges::all_of(
        term, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
    if (!known) refuse("the term '" + term + "', which is not made of letters and an ellipsis");
    return term;
  }

  std::string implied(const std::vector<std::string>& operands) const {
    std::string all = join(operands, ""), once;
    std::ranges::sort(all);
    for (const char c : all)
      if (!std::isdigit(static_cast<unsigned char>(c)) && std::ranges::count(all, c) == 1)
        once += c;
    return digits(most_) + once;
  }

  std::string_view text_;
  std::size_t most_ = 0;  ///< the most dimensions of an ellipsis
};

}  // namespace

EinsumEquation einsum_equation(std::string_view text, const std::vector<std::size_t>& ranks) {
  return EquationReader(text).read(ranks);
}

double einsum_macs(const EinsumEquation& equation, const std::vector<Shape>& shapes) {
  std::map<char, double> sizes;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      double& size = sizes[equation.operands[i][d]];
      size = std::max(size, double(shapes[i][d]));
    }
  double macs = 0;
  std::set<char> open(equation.operands.front().begin(), equation.operands.front().end());
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    open.insert(equation.operands[i].begin(), equation.operands[i].end());
    double terms = 1;
    for (const char letter : open) terms *= sizes.at(letter);
    macs += terms;
    std::string read = equation.result;
    for (std::size_t later = i + 1; later < shapes.size(); ++later)
      read += equation.operands[later];
    std::erase_if(open, [&](char letter) { return read.find(letter) == std::string::npos; });
  }
  return macs;
}

}  // namespace mase::ir
