// SPDX-License-Identifier: Apache-2.0
// The list of operators: every name once, what the user adds, and what is said of other names.
#include "ir/allowed_operators.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "support/message_of.hpp"

using namespace mase;
using namespace mase::ir;
using namespace mase::test;

TEST_CASE("every operator that may run has one row") {
  std::set<std::string> names;
  for (const OpRow& row : op_table())
    for (const CallRow& call : row.calls) names.emplace(call.aten);
  for (const std::string& name : listed_operators()) {
    INFO(name);
    CHECK(names.insert(name).second);
  }
}

TEST_CASE("an operator is found by its name, with any overload and in place or not") {
  for (const char* op : {"aten::add.Tensor", "aten::add_.Tensor", "aten::relu_",
                         "aten::__and__.bool", "mase::getitem", "prim::min.int"})
    CHECK(is_allowed(op));
  for (const char* op :
       {"aten::_reshape_alias_copy", "aten::resize_as", "aten::", "add", "aten::_add",
        "aten::conv2d_backward", "quantized::add", "prim::Print", ""})
    CHECK_FALSE(is_allowed(op));
}

TEST_CASE("the user allows operators by name") {
  allow_operators({"aten::first_of_test", "second_of_test", "aten::third_of_test.out"});
  for (const char* op : {"aten::first_of_test", "aten::second_of_test.int", "aten::third_of_test"})
    CHECK(is_allowed(op));
  for (const char* name : {"", "aten::", "a b", "torch.relu", "../x", "other::name"})
    CHECK_THAT(message_of(Fault::config, [&] { allow_operators({name}); }),
               Catch::Contains("--allow-op " + std::string(name)));
}

TEST_CASE("a graph that was read may not have other operators, nor may the bodies of its leaves") {
  Graph body;
  Node input;
  input.target = "x";
  body.add(input);
  Node call;
  call.kind = NodeKind::call_function;
  call.name = "inside";
  call.op = "aten::_convert_indices_from_csr_to_coo";
  body.add(call);
  Graph graph;
  call.name = "outside";
  call.op = "aten::relu";
  graph.add(call);
  CHECK_NOTHROW(require_allowed(graph, "model.pt"));
  call.name = "leaf";
  call.op = "mase::leaf";
  call.body = std::make_shared<const Graph>(body);
  graph.add(call);
  CHECK_THAT(message_of(Fault::unsupported, [&] { require_allowed(graph, "model.pt"); }),
             Catch::Contains("model.pt: ") && Catch::Contains("node 'inside'") &&
                 Catch::Contains("--allow-op aten::_convert_indices_from_csr_to_coo"));
}
