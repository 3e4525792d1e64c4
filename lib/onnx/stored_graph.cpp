// SPDX-License-Identifier: Apache-2.0
// Stores graphs as text, and tells changed nodes by their digest.
#include "onnx/stored_graph.hpp"

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/allowed_operators.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace mase::onnx {
namespace {

constexpr std::string_view graph_key = "mase.graph", node_key = "mase.node";
constexpr std::string_view counter_prefix = "mase.counter.";
constexpr std::size_t digest_length = 16;

std::string array_text(const Array& array) {
  return std::string(dtype_name(array.dtype())) + shape_text(array.shape()) +
         std::string(reinterpret_cast<const char*>(array.bytes()), array.byte_size());
}

/// Numbers as the file stores them, in float32.
struct AttributeText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(double value) const {
    return double_text(static_cast<double>(static_cast<float>(value)));
  }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Tensor& value) const { return array_text(value.value); }
  std::string operator()(const std::shared_ptr<const Graph>&) const { return "graph"; }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::vector<std::string> texts;
    for (const T& value : values) texts.push_back((*this)(value));
    return "[" + join(texts, ",") + "]";
  }
};

std::string digest(std::span<const Node> nodes, const Constants& constants) {
  std::string text;
  for (const Node& node : nodes) {
    text += node.domain + "." + node.op + "(" + join(node.inputs, ",") +
            ")=" + join(node.outputs, ",") + "\n";
    std::vector<std::string> attributes;
    for (const Attribute& one : node.attributes)
      attributes.push_back(one.name + "=" + std::visit(AttributeText{}, one.value) + "\n");
    std::ranges::sort(attributes);
    text += join(attributes, "");
    for (const std::string& input : node.inputs)
      if (const auto found = constants.find(input); found != constants.end())
        text += array_text(found->second) + "\n";
  }
  return sha256(text).substr(0, digest_length);
}

}  // namespace

void mark_nodes(std::span<Node> nodes, const std::string& name, const Constants& constants) {
  if (nodes.empty()) return;
  nodes.front().metadata.emplace_back(
      node_key, name + " " + std::to_string(nodes.size()) + " " + digest(nodes, constants));
}

void store_graph(const ir::Graph& graph, Model& model) {
  model.metadata.emplace_back(graph_key, ir::print(graph, {.metadata = false}));
}

bool store_counter(const std::string& path, const Array& value, Model& model) {
  if (value.dtype() != DType::int64 || value.size() != 1 || !value.shape().empty()) return false;
  model.metadata.emplace_back(std::string(counter_prefix) + path,
                              std::to_string(value.span<std::int64_t>()[0]));
  return true;
}

std::optional<Array> stored_counter(const Model& model, const std::string& path) {
  const std::string* text = find_property(model.metadata, std::string(counter_prefix) + path);
  const auto value = text ? parse_int(*text) : std::nullopt;
  if (!value) return std::nullopt;
  return Array::from(std::vector<std::int64_t>{*value}, {});
}

Marks marks_of(const Model& model) {
  Marks marks;
  for (const Node& node : model.graph.nodes)
    if (const std::string* mark = find_property(node.metadata, node_key))
      marks.emplace(split(*mark, ' ')[0], *mark);
  return marks;
}

std::optional<StoredRun> run_at(std::span<const Node> nodes, const Constants& constants,
                                const Marks& exported) {
  const std::string* mark = find_property(nodes.front().metadata, node_key);
  const auto same = mark ? exported.find(split(*mark, ' ')[0]) : exported.end();
  if (same == exported.end()) return std::nullopt;
  const std::vector<std::string> parts = split(same->second, ' ');
  const auto count = parse_int(parts.at(1));
  if (!count || static_cast<std::size_t>(*count) > nodes.size()) return std::nullopt;
  const auto run = nodes.first(static_cast<std::size_t>(*count));
  if (digest(run, constants) != parts.at(2)) return std::nullopt;
  return StoredRun{parts[0], run.size()};
}

std::optional<ir::Graph> stored_graph(const Model& model, const std::string& path) {
  const std::string* text = find_property(model.metadata, graph_key);
  if (!text) return std::nullopt;
  try {
    ir::Graph graph = ir::parse(*text, path + ": " + std::string(graph_key));
    ir::require_allowed(graph, path);
    if (ir::verify(graph).empty()) return graph;
  } catch (const Error&) {  // the nodes of the file say what it computes, too
  }
  return std::nullopt;
}

}  // namespace mase::onnx
