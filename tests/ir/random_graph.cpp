// SPDX-License-Identifier: Apache-2.0
// Random sound graphs: odd paths, nested values, every kind of result information.
#include "random_graph.hpp"

#include <array>
#include <bit>
#include <limits>

namespace mase::ir::test {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}
  Graph run();

 private:
  int below(int bound) {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(bound)));
  }
  bool coin() { return below(2) == 0; }
  std::string text();
  std::string path(int i) { return "block." + std::to_string(i) + "." + text(); }
  double number();
  Value value(int depth);
  Value::List values(int depth, int count);
  ValueInfo info(int depth);
  Tree tree(int depth);
  void add_tensors();
  void add_module(int i);
  void add_node(int i);
  void decorate(Node& node);

  Random random_;
  Graph graph_;
};

std::string Maker::text() {
  static const std::array<std::string, 9> texts{
      "plain", "a b", "0", "x:y", "quote\"d", "back\\slash", "line\nbreak", "\xC3\xA9", ""};
  return texts[random_.below(texts.size())];
}

double Maker::number() {
  static const std::array<double, 8> special{0.0,
                                             -0.0,
                                             0.1,
                                             1e-5,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity(),
                                             std::numeric_limits<double>::quiet_NaN(),
                                             5e-324};
  if (coin()) return special[random_.below(special.size())];
  const std::uint64_t bits = (std::uint64_t{random_.next_u32()} << 32) | random_.next_u32();
  return std::bit_cast<double>(bits);
}

Value::List Maker::values(int depth, int count) {
  Value::List items;
  for (int i = 0; i < count; ++i) items.push_back(value(depth + 1));
  return items;
}

Value Maker::value(int depth) {
  switch (below(depth > 3 ? 7 : 11)) {
    case 0:
      return Value();
    case 1:
      return coin();
    case 2:
      return coin() ? std::numeric_limits<std::int64_t>::min() : std::int64_t{below(100)};
    case 3:
      return number();
    case 4:
      return text();
    case 5:
      return NodeRef{graph_.order()[random_.below(graph_.order().size())]};
    case 6:
      return TrainingFlag{};
    case 7:
      return Value::list(values(depth, below(4)));
    case 8:
      return Value::tuple(values(depth, below(3)));
    case 9:
      return Value::slice(value(depth + 1), value(depth + 1), value(depth + 1));
    default:
      return Value::dict({{text(), value(depth + 1)}, {"k", value(depth + 1)}});
  }
}

ValueInfo Maker::info(int depth) {
  ValueInfo made;
  made.kind = static_cast<ValueInfo::Kind>(below(depth > 2 ? 7 : 10));
  using enum ValueInfo::Kind;
  if (made.kind == tensor)
    return ValueInfo::tensor(static_cast<DType>(below(12)), Shape(std::size_t(below(4)), below(5)));
  if (made.kind != list && made.kind != tuple && made.kind != dict) return made;
  for (int i = below(3); i > 0; --i) {
    made.elements.push_back(info(depth + 1));
    if (made.kind == dict) made.keys.push_back(text());
  }
  return made;
}

Tree Maker::tree(int depth) {
  Tree made = Tree::dict();
  made["a b"] = text();
  made["list"] = Tree::list_of(std::vector<std::int64_t>{1, -2, below(9)});
  made["x"] = 0.25 * below(9);
  if (depth < 2) made["deep"] = tree(depth + 1);
  return made;
}

void Maker::add_tensors() {
  for (int i = 0; i < 4; ++i)
    graph_.set_tensor(path(i),
                      {Array(static_cast<DType>(below(12)), Shape{below(4), 2}), coin(), coin()});
}

void Maker::add_module(int i) {
  Module module{path(100 + i), "my.Class " + text(), "aten::linear", {}, {}};
  for (const auto& [name, tensor] : graph_.tensors) module.tensors.emplace_back("w" + text(), name);
  module.attributes.push_back({"eps", number()});
  module.attributes.push_back({"training", TrainingFlag{}});
  graph_.containers["block." + std::to_string(i)] = "my.Block";
  graph_.modules[module.path] = module;
}

void Maker::decorate(Node& node) {
  node.info = info(0);
  if (coin()) node.meta.common = tree(0);
  if (coin()) node.meta.software = tree(0);
  if (coin()) node.source = tree(0);
  if (below(3) == 0) node.formats.emplace("data_in", formats::parse_format("integer(8, 4)"));
  if (below(3) == 0) node.formats.emplace("data_out", formats::parse_format("integer(6, -2)"));
}

void Maker::add_node(int i) {
  static const std::array<std::string, 4> ops{"aten::relu", "aten::add.Tensor", "mystery", "a b"};
  Node node;
  node.kind = static_cast<NodeKind>(1 + below(4));
  node.target = text() + std::to_string(i);
  if (node.kind == NodeKind::get_attr)
    node.target = graph_.tensors.begin()->first;
  else
    node.op = ops[random_.below(ops.size())];
  if (node.kind == NodeKind::call_module) {
    node.target = graph_.modules.begin()->first;
    node.op = "aten::linear";
  }
  for (int a = below(4); a > 0; --a)
    node.args.push_back({"a" + std::to_string(a) + text(), value(0)});
  decorate(node);
  graph_.add(std::move(node));
}

Graph Maker::run() {
  graph_.name = "random " + text();
  add_tensors();
  for (int i = 0; i < 2; ++i) add_module(i);
  for (int i = 0; i < 2; ++i) {
    Node input{.kind = NodeKind::placeholder, .target = "in" + std::to_string(i)};
    input.info = info(0);
    graph_.add(std::move(input));
  }
  for (int i = 0; i < 12; ++i) add_node(i);
  Node output{.kind = NodeKind::output, .target = "output"};
  output.args.push_back({"value", value(0)});
  graph_.add(std::move(output));
  graph_.guards.push_back({text(), text()});
  graph_.history.push_back(tree(0));
  if (coin()) graph_.source = tree(0);
  if (coin()) graph_.remove_dead_nodes();  // leaves holes among the ids
  return std::move(graph_);
}

}  // namespace

Graph random_graph(std::uint64_t seed) { return Maker(seed).run(); }

}  // namespace mase::ir::test
