// The matrix family of hardware modules: ports, parts, handshake models and costs.
#include "hardware/design/module_table.hpp"

#include "hardware/design/handshake/depthwise.hpp"
#include "hardware/design/handshake/linear.hpp"
#include "hardware/design/modules/arithmetic_cost.hpp"
#include "hardware/design/modules/matrix_cost.hpp"

namespace mase::design {
namespace {

using List = std::vector<std::string>;

std::unique_ptr<Handshake> make_linear(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<LinearHandshake>(parameters, kept);
}

std::unique_ptr<Handshake> make_depthwise(const ModuleParameters& parameters, Stages kept) {
  return std::make_unique<DepthwiseHandshake>(parameters, kept);
}

/// Inputs, subset sums of four, and every second level of the trees over groups and over bits.
std::unique_ptr<Handshake> make_constant_linear(const ModuleParameters& parameters, Stages kept) {
  const int groups = log2_ceiling((parameters.integer("INPUTS") + 3) / 4);
  const int bits = log2_ceiling(parameters.integer("WW"));
  return std::make_unique<PipeHandshake>(2 + (groups + 1) / 2 + (bits + 1) / 2, kept);
}

ModuleRow part(std::string name, std::string doc, List uses = {}) {
  return {std::move(name), "matrix", std::move(doc), std::move(uses), {}, {},
          false,           nullptr,  nullptr};
}

}  // namespace

std::vector<ModuleRow> matrix_modules() {
  const List in{"in"}, out{"out"};
  return {
      part("mase_rom", "memory image, a word per cycle"),
      part("mase_replay", "keeps the beats of a row"),
      part("mase_booth_row", "one digit times one operand, added"),
      part("mase_booth_column", "one digit of all lanes, added", {"mase_booth_row"}),
      part("mase_dot_booth", "dot product in LUTs", {"mase_booth_column"}),
      part("mase_multiply", "product of two operands", {"mase_booth_row"}),
      part("mase_dot_chain", "products added one after another", {"mase_multiply"}),
      part("mase_dot_multiply", "dot product by multipliers", {"mase_dot_chain"}),
      part("mase_dot", "dot product", {"mase_dot_booth", "mase_dot_multiply"}),
      part("mase_accumulate", "accumulator that starts from the bias"),
      part("mase_multiply_accumulate", "datapath of linear and depthwise",
           {"mase_rom", "mase_dot", "mase_accumulate", "mase_requantise", "mase_skid"}),
      {"mase_linear",
       "matrix",
       "matrix times rows, folded",
       {"mase_multiply_accumulate", "mase_replay"},
       in,
       out,
       false,
       make_linear,
       linear_cost},
      part("mase_constant_add", "adder or subtractor of constant_linear"),
      {"mase_constant_linear",
       "matrix",
       "matrix of constants, a row per cycle",
       {"mase_constant_add", "mase_requantise", "mase_skid"},
       in,
       out,
       false,
       make_constant_linear,
       constant_linear_cost},
      {"mase_depthwise",
       "matrix",
       "own weights for every channel",
       {"mase_multiply_accumulate"},
       in,
       out,
       false,
       make_depthwise,
       depthwise_cost},
  };
}

}  // namespace mase::design
