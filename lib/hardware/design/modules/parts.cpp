// SPDX-License-Identifier: Apache-2.0
// Modules that a design does not instantiate: parts of others, and the interfaces around the top.
#include "hardware/design/modules/all.hpp"

namespace mase::design {
namespace {

using List = std::vector<std::string>;

ModuleRow part(std::string folder, std::string name, std::string doc, List uses = {}) {
  return {.name = std::move(name),
          .folder = std::move(folder),
          .doc = std::move(doc),
          .uses = std::move(uses)};
}

/// A part that has a file of its own for ECP5, whose tools use neither registers nor adders of DSP
/// blocks by themselves.
ModuleRow own_part(std::string folder, std::string name, std::string doc, List uses = {}) {
  ModuleRow row = part(std::move(folder), std::move(name), std::move(doc), std::move(uses));
  row.families = {"ecp5"};
  return row;
}

ModuleRow reloading(ModuleRow row) {
  row.reloads = true;
  return row;
}

}  // namespace

std::vector<ModuleRow> module_parts() {
  return {
      part("plumbing", "mase_stream_regroup", "the same where neither number divides the other",
           {"mase_skid"}),
      part("interface", "mase_axi_stream_input", "AXI4-Stream in", {"mase_skid"}),
      part("interface", "mase_axi_stream_output", "AXI4-Stream out", {"mase_skid"}),
      part("interface", "mase_axi_control", "AXI4-Lite registers"),
      part("elementwise", "mase_round", "rounding, and whether bounds are passed"),
      part("elementwise", "mase_requantise_stage", "rounding, registers and clamping",
           {"mase_round"}),
      own_part("elementwise", "mase_less", "whether a number is less than another"),
      part("matrix", "mase_rom", "memory image, a word per cycle"),
      part("matrix", "mase_reload_memory", "the same, which a host may write"),
      part("matrix", "mase_replay", "keeps the beats of a row"),
      part("matrix", "mase_delay", "registers one after another"),
      part("matrix", "mase_booth_row", "one digit times one operand, added"),
      part("matrix", "mase_booth_column", "one digit of all lanes, added", {"mase_booth_row"}),
      part("matrix", "mase_dot_booth", "dot product in LUTs", {"mase_booth_column"}),
      part("matrix", "mase_multiply", "product of two operands", {"mase_booth_row"}),
      part("matrix", "mase_pack", "weights of several outputs in one operand"),
      own_part("matrix", "mase_operands", "operands of a step"),
      own_part("matrix", "mase_multiply_stage", "product with its registers",
               {"mase_multiply", "mase_pack"}),
      part("matrix", "mase_dot_chain", "products added one after another", {"mase_multiply_stage"}),
      own_part("matrix", "mase_dot_multiply", "dot product by multipliers",
               {"mase_dot_chain", "mase_delay"}),
      own_part("matrix", "mase_dot_skew", "operands in the order of a dot product's pairs",
               {"mase_operands"}),
      part("matrix", "mase_float_parts", "sign, significand and exponent of a short code"),
      part("matrix", "mase_decode", "number of a short code", {"mase_float_parts"}),
      part("matrix", "mase_significands", "product of two significands", {"mase_multiply"}),
      part("matrix", "mase_code_product", "product of two short codes as a table", {}),
      part("matrix", "mase_float_term", "product of a short code, shifted",
           {"mase_float_parts", "mase_code_product", "mase_significands", "mase_multiply",
            "mase_delay"}),
      part("matrix", "mase_float_row", "one such product, added"),
      part("matrix", "mase_dot_float", "dot product of short codes",
           {"mase_float_term", "mase_float_row"}),
      part("matrix", "mase_dot_binary", "dot product of signs", {"mase_delay"}),
      part("matrix", "mase_dot", "dot product",
           {"mase_dot_booth", "mase_dot_float", "mase_dot_binary", "mase_dot_multiply"}),
      part("matrix", "mase_dot_packed", "dot products of outputs that share multipliers",
           {"mase_dot_multiply"}),
      own_part("matrix", "mase_ready", "a skid's ready for what stands far from it"),
      part("matrix", "mase_accumulate", "accumulator that starts from the bias"),
      reloading(part("matrix", "mase_products", "sums of products, requantised",
                     {"mase_rom", "mase_decode", "mase_operands", "mase_dot", "mase_dot_packed",
                      "mase_dot_skew", "mase_ready", "mase_accumulate", "mase_requantise_stage",
                      "mase_skid"})),
      reloading(part("matrix", "mase_multiply_accumulate", "datapath of linear and depthwise",
                     {"mase_rom", "mase_delay", "mase_operands", "mase_products"})),
      part("matrix", "mase_matrix_memory", "matrices of a stream, kept whole",
           {"mase_window_memory"}),
      part("matrix", "mase_constant_add", "adder or subtractor of constant_linear"),
      part("window", "mase_window_memory", "memory of the windows"),
      part("window", "mase_window_pick", "windows of one pixel", {"mase_skid"}),
  };
}

}  // namespace mase::design
