// SPDX-License-Identifier: Apache-2.0
// The matrix family of hardware modules, and the parts that they are made of.
#include "hardware/design/module_table.hpp"
#include "hardware/design/modules/constant_linear.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/matmul.hpp"

namespace mase::design {
namespace {

using List = std::vector<std::string>;

ModuleRow part(std::string name, std::string doc, List uses = {}) {
  return {
      .name = std::move(name), .folder = "matrix", .doc = std::move(doc), .uses = std::move(uses)};
}

/// A part that has a file of its own for ECP5, whose tools use neither registers nor adders of DSP
/// blocks by themselves.
ModuleRow own_part(std::string name, std::string doc, List uses = {}) {
  ModuleRow row = part(std::move(name), std::move(doc), std::move(uses));
  row.families = {"ecp5"};
  return row;
}

ModuleRow reloading(ModuleRow row) {
  row.reloads = true;
  return row;
}

}  // namespace

std::vector<ModuleRow> matrix_modules() {
  return {
      part("mase_rom", "memory image, a word per cycle"),
      part("mase_reload_memory", "the same, which a host may write"),
      part("mase_replay", "keeps the beats of a row"),
      part("mase_delay", "registers one after another"),
      part("mase_booth_row", "one digit times one operand, added"),
      part("mase_booth_column", "one digit of all lanes, added", {"mase_booth_row"}),
      part("mase_dot_booth", "dot product in LUTs", {"mase_booth_column"}),
      part("mase_multiply", "product of two operands", {"mase_booth_row"}),
      part("mase_pack", "weights of several outputs in one operand"),
      own_part("mase_operands", "operands of a step"),
      own_part("mase_multiply_stage", "product with its registers", {"mase_multiply", "mase_pack"}),
      part("mase_dot_chain", "products added one after another", {"mase_multiply_stage"}),
      own_part("mase_dot_multiply", "dot product by multipliers", {"mase_dot_chain", "mase_delay"}),
      own_part("mase_dot_skew", "operands in the order of a dot product's pairs",
               {"mase_operands"}),
      part("mase_dot", "dot product", {"mase_dot_booth", "mase_dot_multiply"}),
      part("mase_dot_packed", "dot products of outputs that share multipliers",
           {"mase_dot_multiply"}),
      own_part("mase_ready", "a skid's ready for what stands far from it"),
      part("mase_accumulate", "accumulator that starts from the bias"),
      reloading(part("mase_products", "sums of products, requantised",
                     {"mase_rom", "mase_operands", "mase_dot", "mase_dot_packed", "mase_dot_skew",
                      "mase_ready", "mase_accumulate", "mase_requantise_stage", "mase_skid"})),
      reloading(part("mase_multiply_accumulate", "datapath of linear and depthwise",
                     {"mase_rom", "mase_delay", "mase_operands", "mase_products"})),
      part("mase_matrix_memory", "matrices of a stream, kept whole", {"mase_window_memory"}),
      LinearModule::row(),
      MatmulModule::row(),
      part("mase_constant_add", "adder or subtractor of constant_linear"),
      ConstantLinearModule::row(),
      DepthwiseModule::row(),
  };
}

}  // namespace mase::design
