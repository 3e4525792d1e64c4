// SPDX-License-Identifier: Apache-2.0
// What passes do with an op follows from its family: a new activation needs its row and nothing
// else.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "driver/all_passes.hpp"
#include "ir/op_table.hpp"
#include "ir/text.hpp"
#include "passes/analysis/operations.hpp"
#include "passes/channels/channel_groups.hpp"

namespace mase {
namespace {

std::string text_of(std::string_view part) { return std::string(part); }

/// Two linear layers, 4-3-2, with a function of elements between them: `call` gives %y from %a.
ir::Graph between_layers(const std::string& declaration, const std::string& call) {
  return ir::parse("graph \"g\" {\n" + declaration + R"(
  module a : torch.nn.modules.linear.Linear = aten::linear() [weight=@a.weight]
  module b : torch.nn.modules.linear.Linear = aten::linear() [weight=@b.weight]
  tensor a.weight : float32[3, 4] parameter grad
  tensor b.weight : float32[2, 3] parameter grad
  %x : float32[5, 4] = placeholder x
  %a : float32[5, 3] = call_module a aten::linear(input=%x)
  %y : float32[5, 3] = )" +
                       call +
                       R"(
  %b : float32[5, 2] = call_module b aten::linear(input=%y)
  %output : float32[5, 2] = output output(value=%b)
})",
                   "graph");
}

/// The op as a layer of each of its classes, and as each of its calls.
std::vector<ir::Graph> uses_of(const ir::OpRow& row) {
  std::vector<ir::Graph> graphs;
  const std::string aten = text_of(row.calls.front().aten);
  for (const ir::LayerRow& module : row.modules)
    graphs.push_back(
        between_layers("  module f : " + text_of(module.class_name) + " = " + aten + "()",
                       "call_module f " + aten + "(self=%a)"));
  for (const ir::CallRow& call : row.calls) {
    const bool method = call.kind == ir::NodeKind::call_method;
    graphs.push_back(between_layers("", (method ? "call_method " : "call_function ") +
                                            text_of(call.target) + " " + text_of(call.aten) +
                                            "(self=%a)"));
  }
  return graphs;
}

}  // namespace

TEST_CASE("an op that is taken apart before quantization names the pass that does it") {
  std::set<std::string_view> named, preparing;
  for (const ir::OpRow& row : ir::op_table())
    if (!row.expanded_by.empty()) named.insert(row.expanded_by);
  for (const passes::PassRow& pass : driver::all_passes())
    if (pass.prepares) preparing.insert(pass.doc.name);
  CHECK(named == std::set<std::string_view>{"expand_attention", "expand_einsum"});
  CHECK(std::ranges::includes(preparing, named));
}

TEST_CASE("a function of elements is counted, lets channels through and shows its arguments") {
  int seen = 0;
  for (const ir::OpRow& row : ir::op_table()) {
    if (row.family != ir::OpFamily::unary) continue;
    for (const ir::Graph& graph : uses_of(row)) {
      const ir::Node& node = *graph.find_node("y");
      INFO(row.name << " as " << node.target);
      CHECK(ir::classify(graph, node).row == &row);
      passes::OperationCounter counter(graph);
      CHECK(counter.count(node).flops == 3);
      CHECK(counter.uncounted().empty());
      const auto groups = passes::channel_groups(graph);
      REQUIRE(groups.size() == 2);
      CHECK(groups[0].may_scale);
      CHECK(ir::fx_arguments(graph, node).args.size() == 1);
      ++seen;
    }
  }
  CHECK(seen > 40);
}

}  // namespace mase
