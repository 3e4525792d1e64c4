// SPDX-License-Identifier: Apache-2.0
// One walk in execution order.
#include "driver/squares.hpp"

#include <algorithm>
#include <array>

#include "hardware/integer/program.hpp"
#include "ir/op_table.hpp"
#include "passes/quantization/quantize_ports.hpp"

namespace mase::driver {
namespace {

bool is_two(const ir::Value* value) {
  return value && value->is_number() && value->as_double() == 2;
}

/// x^2, square(x) or x * x.
bool is_square(const ir::Node& node, std::string_view op) {
  const ir::Value *self = node.find("self"), *other = node.find("other");
  if (op == "pow") return is_two(node.find("exponent"));
  if (op == "mul") return self && other && self->is_node() && *self == *other;
  return op == "square";
}

/// Whether the result has the range of what is read, but for a factor.
bool keeps_range(std::string_view op) {
  constexpr std::array ops{"mean", "sum", "add", "sub", "mul", "div", "maximum", "minimum"};
  return std::ranges::find(ops, op) != ops.end() || integer::passes_values_on(op);
}

}  // namespace

std::set<std::pair<std::string, std::string>> ports_of_squares(const ir::Graph& graph) {
  std::set<std::pair<std::string, std::string>> found;
  std::set<ir::NodeId> squares;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    const ir::Classified what = ir::classify(graph, node);
    const std::set<std::string> formattable = passes::float_ports(graph, node);
    std::size_t read = 0, streams = 0;
    for (const ir::Port& port : ir::ports(graph, node)) {
      if (!formattable.contains(port.name)) continue;
      bool is_read = false, is_stream = false;
      port.value.for_each_node([&](ir::NodeId source) {
        is_read = is_read || squares.contains(source);
        is_stream = is_stream || graph.node(source).kind != ir::NodeKind::get_attr;
      });
      read += is_read;
      streams += is_stream;
      if (is_read && what.row && what.row->quantizable) found.emplace(node.name, port.name);
    }
    // The result of a square and another stream has the range of neither.
    const bool goes_on = read > 0 && read == streams && keeps_range(what.op);
    if (goes_on || is_square(node, what.op)) squares.insert(id);
  }
  return found;
}

}  // namespace mase::driver
