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

/// The text of a graph to which nodes are added, each with any results before as its operands.
class GraphText {
 public:
  explicit GraphText(unsigned seed) : random_(seed) {}

  /// One of several, by chance.
  std::string any(const std::vector<std::string>& all) { return all[random_() % all.size()]; }
  std::string any() { return any(names_); }
  std::size_t chance(std::size_t choices) { return random_() % choices; }
  std::string new_name() { return "n" + std::to_string(count_++); }

  void tensor(const std::string& path, const std::string& shape) {
    tensors_ += "  tensor " + path + " : float32" + shape + " parameter grad\n";
  }
  void layer(const std::string& name, const std::string& type, const std::string& call) {
    tensors_ += "  module " + name + " : torch.nn.modules." + type + " = " + call + "\n";
  }
  /// A node, whose result others may read if it is a tensor like theirs.
  void node(const std::string& name, const std::string& type, const std::string& call,
            bool for_others = true) {
    nodes_ += "  %" + name + " : " + type + " = " + call + "\n";
    if (for_others) names_.push_back("%" + name);
  }

  ir::Graph graph(const std::string& type) const {
    return ir::parse("graph \"g\" {\n" + tensors_ + nodes_ + "  %output : " + type +
                         " = output output(value=" + names_.back() + ")\n}\n",
                     "test");
  }

 private:
  std::mt19937 random_;
  std::size_t count_ = 0;
  std::vector<std::string> names_;
  std::string tensors_, nodes_;
};

void add_linear(GraphText& text, const std::string& type) {
  const std::string name = text.new_name();
  text.tensor(name + ".weight", "[8, 8]");
  text.tensor(name + ".bias", "[8]");
  text.layer(name, "linear.Linear",
             "aten::linear() [weight=@" + name + ".weight, bias=@" + name + ".bias]");
  text.node(name, type, "call_module " + name + " aten::linear(input=" + text.any() + ")");
}

void add_softmax(GraphText& text, const std::string& type) {
  text.node(text.new_name(), type,
            "call_function torch.nn.functional.softmax aten::softmax.int(input=" + text.any() +
                ", dim=-1)");
}

void add_sum(GraphText& text, const std::string& type) {
  text.node(text.new_name(), type,
            "call_function _operator.add aten::add.Tensor(self=" + text.any() +
                ", other=" + text.any() + ")");
}

/// A graph of linear layers, products, sums and softmaxes of [8, 8] tensors.
ir::Graph graph_of_matrices(unsigned seed, std::size_t nodes) {
  const std::string type = "float32[8, 8]";
  GraphText text(seed);
  text.node("x", type, "placeholder x");
  for (std::size_t i = 0; i < nodes; ++i) switch (text.chance(5)) {
      case 0:
        add_linear(text, type);
        break;
      case 1:
        add_sum(text, type);
        break;
      case 2:
        text.node(text.new_name(), type,
                  "call_function torch.matmul aten::matmul(self=" + text.any() +
                      ", other=" + text.any() + ")");
        break;
      case 3:
        add_softmax(text, type);
        break;
      default:
        text.node(
            text.new_name(), type,
            "call_method transpose aten::transpose.int(self=" + text.any() + ", dim0=0, dim1=1)");
    }
  return text.graph(type);
}

/// A convolution with this number of groups: as many as channels, if it is depthwise.
void add_convolution(GraphText& text, const std::string& type, std::size_t groups) {
  const std::string name = text.new_name(), input = text.any();
  text.tensor(name + ".weight", "[8, " + std::to_string(8 / groups) + ", 3]");
  text.tensor(name + ".bias", "[8]");
  text.layer(
      name, "conv.Conv1d",
      "aten::conv1d(stride=[1], padding=[1], dilation=[1], groups=" + std::to_string(groups) +
          ") [weight=@" + name + ".weight, bias=@" + name + ".bias]");
  text.node(name, type, "call_module " + name + " aten::conv1d(input=" + input + ")");
}

void add_einsum(GraphText& text, const std::string& type) {
  const std::string equation =
      text.any({"bij,bjk->bik", "bij,bkj->bik", "bij,bik->bjk", "bij,cjk->bik", "bij,bij->bji"});
  text.node(text.new_name(), type,
            "call_function torch.functional.einsum aten::einsum(equation=\"" + equation +
                "\", tensors=[" + text.any() + ", " + text.any() + "])");
}

/// A GRU, which gives a list, and its sequences.
void add_recurrent(GraphText& text, const std::string& type, bool batch_first) {
  const std::string name = text.new_name(), input = text.any();
  std::string tensors;
  for (const char* matrix : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}) {
    text.tensor(name + "." + matrix, matrix[0] == 'w' ? "[24, 8]" : "[24]");
    tensors += (tensors.empty() ? "" : ", ") + std::string(matrix) + "=@" + name + "." + matrix;
  }
  text.layer(name, "rnn.GRU",
             std::string("mase::gru(num_layers=1, dropout=0.0, train=$training, ") +
                 "bidirectional=false, batch_first=" + (batch_first ? "true" : "false") + ") [" +
                 tensors + "]");
  text.node(name, "tuple(" + type + ", float32[1, " + (batch_first ? "4" : "8") + ", 8])",
            "call_module " + name + " mase::gru(input=" + input + ")", false);
  text.node(text.new_name(), type,
            "call_function _operator.getitem mase::getitem(value=%" + name + ", index=0)");
}

/// Ids that begin it are looked up in a table; layers of [4, 8, 8] tensors follow.
ir::Graph graph_of_layers(unsigned seed, std::size_t nodes) {
  const std::string type = "float32[4, 8, 8]";
  GraphText text(seed);
  text.node("ids", "int64[4, 8]", "placeholder ids", false);
  text.tensor("table.weight", "[16, 8]");
  text.layer("table", "sparse.Embedding", "aten::embedding() [weight=@table.weight]");
  text.node("table", type, "call_module table aten::embedding(indices=%ids)");
  for (std::size_t i = 0; i < nodes; ++i) switch (text.chance(7)) {
      case 0:
        add_convolution(text, type, std::size_t{2} << text.chance(2));
        break;
      case 1:
        add_convolution(text, type, 8);
        break;
      case 2:
      case 3:
        add_einsum(text, type);
        break;
      case 4:
        add_recurrent(text, type, text.chance(2) == 0);
        break;
      case 5:
        add_linear(text, type);
        break;
      default:
        add_softmax(text, type);
    }
  return text.graph(type);
}

Mesh two_devices() {
  Mesh mesh;
  mesh.sizes = {1, 2};
  mesh.bandwidth = {10, 100};
  mesh.latency = {0.5, 0.25};
  mesh.flops = 100;
  mesh.memory_bandwidth = 1e9;  // so that operations take the time
  return mesh;
}

/// Operations of different sizes, so that few combinations cost the same.
double flops_of(const ir::Node& node) {
  return node.op.empty() ? 0 : 100.0 + 37 * double(node.id % 5);
}

/// The time of the operations or of the memory, whichever is longer, counted axis by axis: each
/// halves the operations if it splits or adds anything, and the bytes of what it splits.
class NodeTime {
 public:
  NodeTime(const Mesh& mesh, const ir::Node& node, const std::vector<Operand>& operands)
      : mesh_(mesh), node_(node), operands_(operands) {}

  double seconds(const Strategy& strategy) const {
    double flops = flops_of(node_);
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (uses(strategy, axis)) flops /= double(mesh_.sizes[axis]);
    return std::max(flops / mesh_.flops, bytes(strategy) / mesh_.memory_bandwidth);
  }

 private:
  static bool splits(const Layout& layout, std::size_t axis) {
    for (const AxisSet axes : layout.split)
      if (has(axes, axis)) return true;
    return false;
  }

  static bool uses(const Strategy& strategy, std::size_t axis) {
    bool used = splits(strategy.result, axis) || has(strategy.result.partial, axis);
    for (const Layout& layout : strategy.operands) used = used || splits(layout, axis);
    return used;
  }

  double part(const Shape& shape, double size, const Layout& layout) const {
    for (const std::int64_t count : shape) size *= double(count);
    for (std::size_t axis = 0; axis < axis_count; ++axis)
      if (splits(layout, axis)) size /= double(mesh_.sizes[axis]);
    return size;
  }

  double bytes(const Strategy& strategy) const {
    const bool is_free =
        node_.op.empty() || node_.op == "mase::getitem" || node_.op == "aten::transpose.int";
    if (is_free) return 0;
    double written = node_.info.is_tensor() ? part(node_.info.shape, 4, strategy.result) : 0;
    for (const ir::ValueInfo& item : node_.info.elements)
      written += part(item.shape, 4, strategy.result);
    double sum = written;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const double size = operands_[i].info.dtype == DType::int64 ? 8 : 4;
      double read = part(operands_[i].info.shape, size, strategy.operands[i]);
      if (node_.op == "aten::embedding" && operands_[i].argument == "weight")
        read = std::min(read, written);
      sum += read;
    }
    return sum;
  }

  const Mesh& mesh_;
  const ir::Node& node_;
  const std::vector<Operand>& operands_;
};

/// The nodes' strategies, all combinations of which are tried. Each result is then moved in the
/// best way for its readers, whose layouts are known.
class Trial {
 public:
  Trial(const ir::Graph& graph, const Mesh& mesh, const Demands& demands)
      : mesh_(mesh), resharder_(mesh) {
    for (const ir::NodeId id : graph.order()) {
      const ir::Node& node = graph.node(id);
      if (node.kind == ir::NodeKind::get_attr) continue;
      auto operands = operands_of(graph, node);
      auto all = strategies_of(mesh, node, operands, splits_of(graph, node, operands), demands);
      std::vector<double> seconds;
      for (const Strategy& one : all)
        seconds.push_back(NodeTime(mesh, node, operands).seconds(one));
      place_[id] = nodes_.size();
      nodes_.push_back({&node, std::move(operands), std::move(all), std::move(seconds), {}});
    }
    for (const One& reader : nodes_)
      for (std::size_t k = 0; k < reader.operands.size(); ++k)
        if (!reader.operands[k].is_stored())
          nodes_[place_.at(reader.operands[k].source)].readers.push_back(
              {place_.at(reader.node->id), k});
  }

  /// With stored tensors of at most `most_bytes` on each device.
  double least(double most_bytes = std::numeric_limits<double>::infinity()) {
    choices_.assign(nodes_.size(), 0);
    best_ = std::numeric_limits<double>::infinity();
    most_bytes_ = most_bytes;
    choose(nodes_.size(), 0, 0);
    return best_;
  }

 private:
  struct Reader {
    std::size_t node, operand;
  };
  struct One {
    const ir::Node* node;
    std::vector<Operand> operands;
    std::vector<Strategy> strategies;
    std::vector<double> seconds;
    std::vector<Reader> readers;
  };

  /// Goes on with the node in front of `end`, whose readers have been chosen.
  void choose(std::size_t end, double seconds, double bytes) {
    if (seconds >= best_ || bytes > most_bytes_) return;
    if (end == 0) {
      best_ = seconds;
      return;
    }
    const One& one = nodes_[end - 1];
    for (std::size_t choice = 0; choice < one.strategies.size(); ++choice) {
      choices_[end - 1] = choice;
      choose(end - 1, seconds + one.seconds[choice] + moving(one, one.strategies[choice].result),
             bytes + one.strategies[choice].bytes);
    }
  }

  double moving(const One& one, const Layout& from) {
    if (one.node->kind == ir::NodeKind::output) return 0;
    std::vector<const Layout*> wanted;
    for (const Reader& reader : one.readers)
      wanted.push_back(
          &nodes_[reader.node].strategies[choices_[reader.node]].operands[reader.operand]);
    constexpr double never = std::numeric_limits<double>::infinity();
    if (!one.node->info.is_tensor()) {  // a list stays as it is
      for (const Layout* to : wanted)
        if (*to != from) return never;
      return 0;
    }
    const Shape& shape = one.node->info.shape;
    const std::size_t element = size_of(one.node->info.dtype);
    double best = never;
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
  std::vector<std::size_t> choices_;
  double best_ = 0, most_bytes_ = 0;
};

/// The operations of a node take 1 to 2.5 seconds, and its memory about as long, or no time.
constexpr double memories[] = {400, 1e9};

void check_choice(const ir::Graph& graph, const Mesh& mesh) {
  const Demands demands{flops_of, {}};
  const Layouts layouts = choose_layouts(graph, mesh, demands, -1);
  CHECK(layouts.seconds == Approx(Trial(graph, mesh, demands).least()).epsilon(1e-12));
}

}  // namespace

TEST_CASE("the chosen layouts cost as little as the best of all combinations", "[sharding]") {
  Mesh mesh = two_devices();
  for (const double memory : memories)
    for (unsigned seed = 0; seed < 40; ++seed) {
      CAPTURE(seed, memory);
      mesh.memory_bandwidth = memory;
      check_choice(graph_of_matrices(seed, 1 + seed % 6), mesh);
    }
}

TEST_CASE("so do those of groups, letters, sequences and rows of a table", "[sharding]") {
  Mesh mesh = two_devices();
  for (const double memory : memories)
    for (unsigned seed = 0; seed < 40; ++seed) {
      CAPTURE(seed, memory);
      mesh.memory_bandwidth = memory;
      mesh.sizes = seed % 4 == 0 ? std::array<std::int64_t, 2>{2, 2} : two_devices().sizes;
      check_choice(graph_of_layers(seed, 1 + seed % (mesh.devices() == 4 ? 3 : 5)), mesh);
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
