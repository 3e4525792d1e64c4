// SPDX-License-Identifier: Apache-2.0
// The layouts of random small graphs cost what the best of all combinations costs.
#include "sharding/choose_layouts.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "ir/inference.hpp"
#include "ir/text.hpp"

namespace mase::sharding {
namespace {

/// A graph of linear layers, products, sums and softmaxes of [4, 8] tensors.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  ir::Graph make(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) add("%n" + std::to_string(i));
    return ir::parse(
        "graph \"g\" {\n" + modules_ + "  %x : float32[8, 8] = placeholder x\n" + nodes_ +
            "  %output : float32[8, 8] = output output(value=" + names_.back() + ")\n}\n",
        "test");
  }

 private:
  std::string any() { return names_[random_() % names_.size()]; }

  void add(const std::string& name) {
    nodes_ += "  " + name + " : float32[8, 8] = ";
    switch (random_() % 5) {
      case 0:
        add_layer(name.substr(1));
        break;
      case 1:
        nodes_ += "call_function _operator.add aten::add.Tensor(self=" + any() +
                  ", other=" + any() + ")\n";
        break;
      case 2:
        nodes_ +=
            "call_function torch.matmul aten::matmul(self=" + any() + ", other=" + any() + ")\n";
        break;
      case 3:
        nodes_ += "call_function torch.nn.functional.softmax aten::softmax.int(input=" + any() +
                  ", dim=-1)\n";
        break;
      default:
        nodes_ += "call_method transpose aten::transpose.int(self=" + any() + ", dim0=0, dim1=1)\n";
    }
    names_.push_back(name);
  }

  void add_layer(const std::string& name) {
    modules_ += "  module " + name +
                " : torch.nn.modules.linear.Linear = aten::linear() [weight=@" + name +
                ".weight, bias=@" + name + ".bias]\n  tensor " + name +
                ".weight : float32[8, 8] parameter grad\n  tensor " + name +
                ".bias : float32[8] parameter grad\n";
    nodes_ += "call_module " + name + " aten::linear(input=" + any() + ")\n";
  }

  std::mt19937 random_;
  std::vector<std::string> names_{"%x"};
  std::string modules_, nodes_;
};

Mesh two_devices() {
  Mesh mesh;
  mesh.sizes = {1, 2};
  mesh.bandwidth = {10, 100};
  mesh.latency = {0.5, 0.25};
  mesh.flops = 100;
  return mesh;
}

/// Operations of different sizes, so that few combinations cost the same.
double flops_of(const ir::Node& node) {
  return node.op.empty() ? 0 : 100.0 + 37 * double(node.id % 5);
}

/// The nodes' strategies, all combinations of which are tried. Each result is then moved in the
/// best way for its readers, whose layouts are known.
class Trial {
 public:
  Trial(const ir::Graph& graph, const Mesh& mesh, const Demands& demands)
      : mesh_(mesh), resharder_(mesh) {
    for (const ir::NodeId id : graph.order()) {
      const ir::Node& node = graph.node(id);
      auto operands = operands_of(graph, node);
      auto all = strategies_of(mesh, node, operands, splits_of(graph, node, operands), demands);
      place_[id] = nodes_.size();
      nodes_.push_back({&node, std::move(operands), std::move(all)});
    }
  }

  /// With stored tensors of at most `most_bytes` on each device.
  double least(double most_bytes = std::numeric_limits<double>::infinity()) {
    std::vector<std::size_t> choices(nodes_.size(), 0);
    double best = std::numeric_limits<double>::infinity();
    for (;;) {
      if (bytes(choices) <= most_bytes) best = std::min(best, cost(choices));
      std::size_t i = 0;
      while (i < choices.size() && ++choices[i] == nodes_[i].strategies.size()) choices[i++] = 0;
      if (i == choices.size()) return best;
    }
  }

 private:
  struct One {
    const ir::Node* node;
    std::vector<Operand> operands;
    std::vector<Strategy> strategies;
  };

  double bytes(const std::vector<std::size_t>& choices) const {
    double sum = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) sum += nodes_[i].strategies[choices[i]].bytes;
    return sum;
  }

  double cost(const std::vector<std::size_t>& choices) {
    double sum = 0;
    std::vector<std::vector<const Layout*>> wanted(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Strategy& strategy = nodes_[i].strategies[choices[i]];
      sum += strategy.seconds;
      for (std::size_t k = 0; k < nodes_[i].operands.size(); ++k)
        if (!nodes_[i].operands[k].is_stored())
          wanted[place_.at(nodes_[i].operands[k].source)].push_back(&strategy.operands[k]);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].node->kind != ir::NodeKind::output)
        sum += moving(nodes_[i].strategies[choices[i]].result, wanted[i], *nodes_[i].node);
    return sum;
  }

  double moving(const Layout& from, const std::vector<const Layout*>& wanted,
                const ir::Node& node) {
    const Shape& shape = node.info.shape;
    const std::size_t element = size_of(node.info.dtype);
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [found, way] : resharder_.all_from(from, shape, element)) {
      if (found.partial != 0) continue;
      double sum = way.seconds;
      for (const Layout* to : wanted) sum += resharder_.find(found, *to, shape, element).seconds;
      best = std::min(best, sum);
    }
    return best;
  }

  const Mesh& mesh_;
  Resharder resharder_;
  std::vector<One> nodes_;
  std::map<ir::NodeId, std::size_t> place_;
};

}  // namespace

TEST_CASE("the chosen layouts cost as little as the best of all combinations", "[sharding]") {
  const Mesh mesh = two_devices();
  const Demands demands{flops_of, {}};
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const ir::Graph graph = RandomGraph(seed).make(1 + seed % 6);
    const Layouts layouts = choose_layouts(graph, mesh, demands, -1);
    const double least = Trial(graph, mesh, demands).least();
    CHECK(layouts.seconds == Approx(least).epsilon(1e-12));
  }
}

TEST_CASE("a table of ids is split as cheaply as memory allows", "[sharding]") {
  const ir::Graph graph = ir::parse(R"(graph "g" {
  module table : torch.nn.modules.sparse.Embedding = aten::embedding() [weight=@t]
  module head : torch.nn.modules.linear.Linear = aten::linear() [weight=@w]
  tensor t : float32[16, 9] parameter grad
  tensor w : float32[16, 9] parameter grad
  %x : int64[3] = placeholder x
  %table : float32[3, 9] = call_module table aten::embedding(indices=%x)
  %relu : float32[3, 9] = call_function torch.relu aten::relu(self=%table)
  %head : float32[3, 16] = call_module head aten::linear(input=%relu)
  %output : float32[3, 16] = output output(value=%head)
}
)",
                                    "test");
  const Demands demands{flops_of, {}};
  for (const std::array<std::int64_t, 2>& sizes : {std::array<std::int64_t, 2>{1, 2}, {2, 2}})
    for (const double most_bytes : {1152.0, 864.0, 576.0, 288.0}) {
      Mesh mesh = two_devices();
      mesh.sizes = sizes;
      CAPTURE(sizes, most_bytes);
      const double least = Trial(graph, mesh, demands).least(most_bytes);
      if (std::isinf(least)) {
        CHECK_THROWS_AS(choose_layouts(graph, mesh, demands, most_bytes), Error);
        continue;
      }
      const Layouts layouts = choose_layouts(graph, mesh, demands, most_bytes);
      CHECK(layouts.bytes <= most_bytes);
      CHECK(layouts.seconds == Approx(least).epsilon(1e-12));
    }
}

}  // namespace mase::sharding
