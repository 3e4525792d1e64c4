// The matrix family of hardware modules: ports, parts, controls and costs.
#include "hardware/design/module_table.hpp"

#include "hardware/design/control/depthwise.hpp"
#include "hardware/design/control/linear.hpp"
#include "hardware/design/modules/arithmetic_cost.hpp"
#include "hardware/design/modules/matrix_cost.hpp"

namespace mase::design {
namespace {

using List = std::vector<std::string>;

std::unique_ptr<Control> make_linear(const Parameters& parameters) {
  return std::make_unique<LinearControl>(parameters);
}

std::unique_ptr<Control> make_depthwise(const Parameters& parameters) {
  return std::make_unique<DepthwiseControl>(parameters);
}

/// Inputs, subset sums of four, and every second level of the trees over groups and over bits.
std::unique_ptr<Control> make_constant_linear(const Parameters& parameters) {
  const int groups = log2_ceiling((parameters.integer("INPUTS") + 3) / 4);
  const int bits = log2_ceiling(parameters.integer("WW"));
  return std::make_unique<PipeControl>(2 + (groups + 1) / 2 + (bits + 1) / 2);
}

ModuleRow part(std::string name, std::string doc, List uses = {}) {
  return {std::move(name), "matrix", std::move(doc), std::move(uses), {}, {},
          false,           nullptr,  nullptr};
}

}  // namespace

std::vector<ModuleRow> matrix_modules() {
  const List in{"in"}, out{"out"};
  return {
      part("rom", "memory image, a word per cycle"),
      part("replay", "keeps the beats of a row"),
      part("booth_row", "one digit times one operand, added"),
      part("booth_column", "one digit of all lanes, added", {"booth_row"}),
      part("dot_booth", "dot product in LUTs", {"booth_column"}),
      part("multiply", "product of two operands", {"booth_row"}),
      part("dot_chain", "products added one after another", {"multiply"}),
      part("dot_multiply", "dot product by multipliers", {"dot_chain"}),
      part("dot", "dot product", {"dot_booth", "dot_multiply"}),
      part("accumulate", "accumulator that starts from the bias"),
      part("multiply_accumulate", "datapath of linear and depthwise",
           {"rom", "dot", "accumulate", "requantise", "skid"}),
      {"linear",
       "matrix",
       "matrix times rows, folded",
       {"multiply_accumulate", "replay"},
       in,
       out,
       false,
       make_linear,
       linear_cost},
      part("constant_add", "adder or subtractor of constant_linear"),
      {"constant_linear",
       "matrix",
       "matrix of constants, a row per cycle",
       {"constant_add", "requantise", "skid"},
       in,
       out,
       false,
       make_constant_linear,
       constant_linear_cost},
      {"depthwise",
       "matrix",
       "own weights for every channel",
       {"multiply_accumulate"},
       in,
       out,
       false,
       make_depthwise,
       depthwise_cost},
  };
}

}  // namespace mase::design
