// SPDX-License-Identifier: Apache-2.0
// expand_einsum against torch.einsum itself.
#include "torch/catch.hpp"

#include "base/random.hpp"
#include "driver/all_passes.hpp"
#include "ir/graph.hpp"
#include "passes/runner.hpp"
#include "torch/fixtures.hpp"

namespace mase::test {
namespace {

Array random_floats(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Array array(DType::float32, shape);
  for (float& value : array.mutable_span<float>()) value = float(random.uniform(-1, 1));
  return array;
}

/// The einsum of inputs of these shapes.
ir::Graph einsum_of(const std::string& equation, const std::vector<Shape>& shapes,
                    const Shape& result) {
  ir::Graph graph;
  ir::Value::List tensors;
  for (const Shape& shape : shapes) {
    ir::Node input;
    input.kind = ir::NodeKind::placeholder;
    input.name = input.target = "x" + std::to_string(tensors.size());
    input.info = ir::ValueInfo::tensor(DType::float32, shape);
    tensors.emplace_back(ir::NodeRef{graph.add(input)});
  }
  ir::Node node;
  node.kind = ir::NodeKind::call_function;
  node.name = "einsum";
  node.target = "torch.functional.einsum";
  node.op = "aten::einsum";
  node.args = {{"equation", equation}, {"tensors", ir::Value::list(std::move(tensors))}};
  node.info = ir::ValueInfo::tensor(DType::float32, result);
  const ir::NodeId id = graph.add(node);
  ir::Node output;
  output.kind = ir::NodeKind::output;
  output.name = output.target = "output";
  output.args = {{"value", ir::NodeRef{id}}};
  output.info = node.info;
  graph.add(output);
  return graph;
}

ir::Graph einsums_expanded(ir::Graph graph) {
  passes::PassContext context;
  passes::run_passes(graph, {{"expand_einsum", Tree::dict(), {}}}, driver::all_passes(), context,
                     {});
  return graph;
}

void check_einsum(const std::string& equation, const std::vector<Shape>& shapes,
                  const Shape& result) {
  INFO(equation);
  const ir::Graph graph = einsum_of(equation, shapes, result);
  std::vector<Array> inputs;
  for (const Shape& shape : shapes) inputs.push_back(random_floats(shape, inputs.size() + 1));
  const ir::Graph plain = einsums_expanded(graph);
  for (const ir::NodeId id : plain.order()) CHECK(plain.node(id).op != "aten::einsum");
  CHECK(largest_difference(evaluator_of(plain)->run(inputs), evaluator_of(graph)->run(inputs)) <
        1e-5);
  evaluator_of(plain)->run(inputs,
                           [&](const ir::Node& node, const std::string& port, const Array& value) {
                             INFO(node.name);
                             if (port == "data_out" && node.info.is_tensor())
                               CHECK(node.info.shape == value.shape());
                           });
}

}  // namespace

TEST_CASE("einsums of attention and of layers taken apart compute what torch.einsum computes") {
  check_einsum("bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}}, {2, 3, 4, 6});
  check_einsum("bhqk,bhkd->bhqd", {{2, 3, 4, 6}, {2, 3, 6, 5}}, {2, 3, 4, 5});
  check_einsum("bqhd,bkhd->bhqk", {{2, 4, 3, 5}, {2, 6, 3, 5}}, {2, 3, 4, 6});
  check_einsum("bhqk,bkhd->bqhd", {{2, 3, 4, 6}, {2, 6, 3, 5}}, {2, 4, 3, 5});
  check_einsum("bld,df->blf", {{2, 4, 3}, {3, 5}}, {2, 4, 5});
  check_einsum("df,bld->blf", {{3, 5}, {2, 4, 3}}, {2, 4, 5});
  check_einsum("btd,dhk->bthk", {{2, 4, 3}, {3, 2, 5}}, {2, 4, 2, 5});
  check_einsum("bthk,hkd->btd", {{2, 4, 2, 5}, {2, 5, 3}}, {2, 4, 3});
  check_einsum("bthk,khd->btd", {{2, 4, 2, 5}, {5, 2, 3}}, {2, 4, 3});
  check_einsum("bthd,hde->bthe", {{2, 4, 3, 5}, {3, 5, 6}}, {2, 4, 3, 6});
}

TEST_CASE("einsums of vectors, sums and further operands compute what torch.einsum computes") {
  check_einsum("i,i->", {{4}, {4}}, {});
  check_einsum("i,j->ij", {{4}, {3}}, {4, 3});
  check_einsum("bd,d->b", {{2, 4}, {4}}, {2});
  check_einsum("btd,bd->bt", {{2, 3, 4}, {2, 4}}, {2, 3});
  check_einsum("bd,bd->b", {{2, 4}, {2, 4}}, {2});
  check_einsum("bl,bld->bld", {{2, 3}, {2, 3, 4}}, {2, 3, 4});
  check_einsum("bij->ji", {{2, 3, 4}}, {4, 3});
  check_einsum("bij,bjk", {{2, 3, 4}, {2, 4, 5}}, {2, 3, 5});
  check_einsum("ba,ca", {{2, 3}, {4, 3}}, {2, 4});
  check_einsum("...ij,...jk->...ik", {{2, 3, 3, 4}, {2, 3, 4, 5}}, {2, 3, 3, 5});
  check_einsum("...d,df->...f", {{2, 3, 4}, {4, 5}}, {2, 3, 5});
  check_einsum("bi,ij,jk->bk", {{2, 3}, {3, 4}, {4, 5}}, {2, 5});
  check_einsum("bxi,oij,byj->boxy", {{2, 3, 4}, {6, 4, 5}, {2, 7, 5}}, {2, 6, 3, 7});
}

TEST_CASE("einsums taken apart take other batches and lengths") {
  const ir::Graph graph = einsum_of("bqhd,bkhd->bqkh", {{2, 4, 3, 5}, {2, 6, 3, 5}}, {2, 4, 6, 3});
  const std::vector<Array> inputs{random_floats({3, 2, 3, 5}, 1), random_floats({3, 7, 3, 5}, 2)};
  CHECK(largest_difference(evaluator_of(einsums_expanded(graph))->run(inputs),
                           evaluator_of(graph)->run(inputs)) < 1e-5);
}

}  // namespace mase::test
