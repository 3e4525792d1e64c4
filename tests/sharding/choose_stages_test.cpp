// SPDX-License-Identifier: Apache-2.0
// The stages of small graphs are those of trying all cuts, each with the cheapest layouts of its
// parts; and two stages by hand.
#include "sharding/choose_stages.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "ir/text.hpp"

namespace mase::sharding {
namespace {

/// Sums, products and softmaxes of any results before.
ir::Graph some_graph(unsigned seed) {
  std::mt19937 random(seed);
  const std::size_t count = 2 + random() % 5;
  std::vector<std::string> names{"%x"};
  std::string text = "graph \"g\" {\n  %x : float32[8, 8] = placeholder x\n";
  const auto any = [&] { return names[random() % names.size()]; };
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "%n" + std::to_string(i);
    text += "  " + name + " : float32[8, 8] = ";
    const unsigned kind = random() % 3;
    if (kind == 0)
      text += "call_function _operator.add aten::add.Tensor(self=" + names.back() +
              ", other=" + any() + ")\n";
    else if (kind == 1)
      text += "call_function torch.matmul aten::matmul(self=" + names.back() + ", other=" + any() +
              ")\n";
    else
      text += "call_function torch.nn.functional.softmax aten::softmax.int(input=" + any() +
              ", dim=-1)\n";
    names.push_back(name);
  }
  text += "  %output : float32[8, 8] = output output(value=" + names.back() + ")\n}\n";
  return ir::parse(text, "test");
}

Mesh four_devices() {
  Mesh mesh;
  mesh.sizes = {2, 2};
  mesh.bandwidth = {1000, 4000};
  mesh.latency = {0.05, 0.02};
  mesh.flops = 100;
  mesh.memory_bandwidth = 200;
  return mesh;
}

double work_of(const ir::Node& node) {
  return node.op.empty() ? 0 : 100.0 + 37 * double(node.id % 5);
}

/// The least cost of a network over all assignments, one variable after the other.
double least(const CostNetwork& network, std::vector<std::size_t>& choices, double cost,
             double best) {
  const std::size_t v = choices.size();
  if (cost >= best) return best;
  if (v == network.variables.size()) return cost;
  for (std::size_t choice = 0; choice < network.variables[v].costs.size(); ++choice) {
    choices.push_back(choice);
    double more = network.variables[v].costs[choice];
    for (const CostNetwork::Pair& pair : network.pairs)
      if (std::max(pair.first, pair.second) == v)
        more += pair.costs[choices[pair.first] * network.variables[pair.second].costs.size() +
                           choices[pair.second]];
    best = least(network, choices, cost + more, best);
    choices.pop_back();
  }
  return best;
}

/// Tries all cuts of the nodes after the input.
class AllCuts {
 public:
  AllCuts(const ir::Graph& graph, const Mesh& mesh, double batches)
      : graph_(graph), mesh_(mesh), batches_(batches) {
    for (const ir::NodeId id : graph.order())
      if (graph.node(id).kind != ir::NodeKind::placeholder) nodes_.push_back(id);
  }

  double best(std::size_t stages) { return rest(0, stages, stage_mesh(mesh_, stages), 0, 0); }
  std::size_t nodes() const { return nodes_.size(); }

 private:
  double rest(std::size_t begin, std::size_t stages, const Mesh& part, double sum, double most) {
    if (stages == 0)
      return begin == nodes_.size() ? sum + (batches_ - 1) * most
                                    : std::numeric_limits<double>::infinity();
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t end = begin + 1; end <= nodes_.size(); ++end) {
      const double one = seconds(begin, end, part);
      best = std::min(best, rest(end, stages - 1, part, sum + one, std::max(most, one)));
    }
    return best;
  }

  double seconds(std::size_t begin, std::size_t end, const Mesh& mesh) {
    GraphPart part;
    std::set<ir::NodeId> inside, received;
    for (std::size_t i = begin; i < end; ++i) {
      part.nodes.push_back(nodes_[i]);
      inside.insert(nodes_[i]);
      for (const ir::NodeId id : graph_.inputs(nodes_[i]))
        if (graph_.node(id).kind != ir::NodeKind::placeholder && !inside.contains(id))
          received.insert(id);
      for (std::size_t later = end; later < nodes_.size(); ++later)
        for (const ir::NodeId id : graph_.inputs(nodes_[later]))
          if (id == nodes_[i]) part.leaving.insert(id);
    }
    const auto key = std::pair(begin, end);
    if (!known_.contains(key)) {
      const Demands demands{work_of, {}};
      std::vector<std::size_t> choices;
      const LayoutNetwork network(graph_, part, mesh, demands, -1);
      known_[key] = least(network.costs(), choices, 0, std::numeric_limits<double>::infinity());
    }
    // 8 x 8 numbers of 4 bytes between machines.
    return known_[key] + double(received.size()) * (0.05 + 256.0 / 1000);
  }

  const ir::Graph& graph_;
  const Mesh& mesh_;
  double batches_;
  std::vector<ir::NodeId> nodes_;
  std::map<std::pair<std::size_t, std::size_t>, double> known_;
};

}  // namespace

TEST_CASE("stages cost as little as the best of all cuts and layouts", "[sharding]") {
  const Mesh mesh = four_devices();
  const Demands demands{work_of, {}};
  for (unsigned seed = 0; seed < 30; ++seed) {
    const ir::Graph graph = some_graph(seed);
    for (const double batches : {1.0, 8.0})
      for (const std::size_t stages : {std::size_t(2), std::size_t(4)}) {
        AllCuts all(graph, mesh, batches);
        CAPTURE(seed, batches, stages);
        REQUIRE(all.nodes() <= 8);
        if (stages > all.nodes()) continue;
        const Pipeline found = choose_stages(graph, mesh, demands, -1, {stages, batches});
        CHECK(found.stages.size() == stages);
        CHECK(found.seconds == Approx(all.best(stages)).epsilon(1e-9));
      }
  }
}

TEST_CASE("results of stages are tensors, or sizes that follow from shapes", "[sharding]") {
  const auto graph_of = [](const std::string& node, const std::string& info) {
    return ir::parse(
        "graph \"g\" {\n  %x : float32[8, 8] = placeholder x\n"
        "  %y : float32[8, 8] = call_function torch.relu aten::relu(self=%x)\n"
        "  %z : float32[] = call_function torch.sum aten::sum(self=%y)\n"
        "  %r : " +
            info + " = " + node +
            "\n"
            "  %output : tuple(float32[8, 8], " +
            info +
            ") = output output(value=(%y, %r))"
            "\n}\n",
        "test");
  };
  const Mesh mesh = four_devices();
  const Demands demands{work_of, {}};
  const auto stages_of = [&](const ir::Graph& graph) {
    return choose_stages(graph, mesh, demands, -1, {2, 1}).stages.size();
  };
  CHECK(stages_of(graph_of("call_function size aten::size.int(self=%y, dim=1)", "int")) == 2);
  CHECK_THROWS_WITH(stages_of(graph_of("call_function float aten::Float.Tensor(a=%z)", "float")),
                    Catch::Contains("stages: the result 'r' is a number"));
  CHECK_THROWS_WITH(
      stages_of(graph_of("call_function torch.chunk aten::chunk(self=%y, chunks=2, dim=0)",
                         "list(float32[4, 8], float32[4, 8])")),
      Catch::Contains("stages: the result 'r' is a list"));
}

TEST_CASE("stages share out a mesh by machines first", "[sharding]") {
  Mesh mesh;
  mesh.sizes = {2, 4};
  const auto sizes = [&](std::size_t stages) { return stage_mesh(mesh, stages).sizes; };
  CHECK(sizes(1) == std::array<std::int64_t, 2>{2, 4});
  CHECK(sizes(2) == std::array<std::int64_t, 2>{1, 4});
  CHECK(sizes(4) == std::array<std::int64_t, 2>{1, 2});
  CHECK(sizes(8) == std::array<std::int64_t, 2>{1, 1});
  CHECK_THROWS_WITH(sizes(3), Catch::Contains("does not share out the mesh of 2 x 4 devices"));
  CHECK_THROWS_AS(sizes(16), Error);
}

}  // namespace mase::sharding
