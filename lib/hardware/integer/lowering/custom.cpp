// SPDX-License-Identifier: Apache-2.0
// Ops of the user's own: what their module computes of an element is the table that they state.
#include "hardware/integer/lowering/custom.hpp"

#include <algorithm>

#include "ir/custom_op.hpp"

namespace mase::integer {
namespace {

const ir::CustomHardware& hardware_of(const ir::CustomOp& op) {
  if (!op.hardware)
    throw Refusal{"an op of your own without hardware; add [custom_ops." + op.name +
                  ".hardware] to the configuration (docs/adding/custom_op.md)"};
  return *op.hardware;
}

/// The grid of a port, which the module's codes are on.
Grid grid_at(const Call& call, const ir::CustomOp& op, const std::string& port) {
  if (const formats::Format* format = call.format(port)) return grid_of(*format);
  throw Refusal{"its module needs codes of a known width; give its port " + port +
                " a format: [passes.quantize." + op.name + ".config] with name = \"integer\", " +
                port + "_width and " + port + "_frac_width"};
}

std::string bits_text(const FixedType& type) {
  return std::to_string(type.width) + (type.is_signed ? " signed bits" : " unsigned bits");
}

void check_table(const ir::CustomHardware& hardware, const FixedType& in, const FixedType& out) {
  const std::size_t entries = hardware.table.size();
  if (in.width > 16 || entries != std::size_t{1} << in.width)
    throw Refusal{"its table has " + std::to_string(entries) + " entries, and data_in has " +
                  bits_text(in) + ", at most 16: state 2^width of them"};
  const auto [low, high] = std::ranges::minmax(hardware.table);
  if (low < out.low() || high > out.high())
    throw Refusal{"its table gives codes from " + std::to_string(low) + " to " +
                  std::to_string(high) + ", which data_out with " + bits_text(out) +
                  " does not hold"};
}

}  // namespace

Operand lower_custom(const Call& call) {
  const ir::Graph& graph = call.lowering.graph();
  const ir::CustomOp& op = *ir::custom_op(graph, call.node);
  const ir::CustomHardware& hardware = hardware_of(op);
  const FixedType in = grid_at(call, op, "data_in").type;
  const FixedType out = grid_at(call, op, "data_out").type;
  check_table(hardware, in, out);
  const ir::LeafInput given = ir::leaf_inputs(graph, call.node).at(0);
  if (call.node.info.shape != graph.node(given.node).info.shape)
    throw Refusal{"its table is for each element, and its result has another shape than its input"};
  const StreamView x =
      call.lowering.widened(call.stream_of(ir::NodeRef{given.node}, given.argument), in, call.node);
  return call.lowering.emit(call.node, Lookup{op.name, hardware.table, op.hardware}, {x.id},
                            {interval_of(out), out.frac}, unchanged(out), out.frac,
                            call.lowering.layout_of(x));
}

}  // namespace mase::integer
