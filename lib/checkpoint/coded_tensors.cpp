// SPDX-License-Identifier: Apache-2.0
// Which readers a tensor has, and whether its codes say all that they read.
#include "checkpoint/coded_tensors.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "ir/op_table.hpp"

namespace mase::checkpoint {
namespace {

using formats::Encoded;
using formats::Format;

/// What the readers of a tensor have in common.
struct Readers {
  std::optional<Format> format;
  bool differ = false;  ///< another format, or none

  void add(const Format* read) {
    differ = differ || read == nullptr || (format && !(*format == *read));
    if (read != nullptr) format = *read;
  }
};

/// The format that an argument of a node is read through where it holds the node `source`
/// (no_node: a tensor of the node's own layer).
const Format* format_at(const ir::Node& node, const std::vector<ir::Port>& ports,
                        const std::string& argument, ir::NodeId source) {
  for (const ir::Port& port : ports) {
    const bool is_other = port.value.is_node() && port.value.node() != source;
    const auto format = node.formats.find(port.name);
    if (port.argument == argument && !is_other && format != node.formats.end())
      return &format->second;
  }
  return nullptr;
}

class ReaderMap {
 public:
  explicit ReaderMap(const ir::Graph& graph) : graph_(graph) {
    for (const ir::NodeId id : graph.order()) add(graph.node(id));
  }

  /// The format of all readers.
  std::optional<Format> format_of(const std::string& path) const {
    const auto found = readers_.find(path);
    return found == readers_.end() || found->second.differ ? std::nullopt : found->second.format;
  }

 private:
  void add(const ir::Node& node) {
    if (node.kind == ir::NodeKind::get_attr && !node.formats.empty())
      readers_[node.target].add(nullptr);
    const std::vector<ir::Port> ports = ir::ports(graph_, node);
    if (node.kind == ir::NodeKind::call_module)
      for (const auto& [argument, path] : graph_.module_of(node).tensors)
        readers_[path].add(format_at(node, ports, argument, ir::no_node));
    for (const ir::Argument& argument : node.args)
      argument.value.for_each_node([&](ir::NodeId id) {
        const ir::Node& source = graph_.node(id);
        if (source.kind == ir::NodeKind::get_attr)
          readers_[source.target].add(format_at(node, ports, argument.name, id));
      });
  }

  const ir::Graph& graph_;
  std::map<std::string, Readers> readers_;
};

bool is_same(const Encoded& a, const Encoded& b) {
  return a.codes == b.codes && a.shared == b.shared && std::ranges::equal(a.scales, b.scales);
}

/// A table of codes is worth its bytes where the tensor has more elements than it.
bool is_worth_table(const formats::Decoding& decoding, const Array& value) {
  return decoding.bits <= 8 || decoding.elements.size() < static_cast<std::size_t>(value.size());
}

Array quantized(const Format& format, const Array& value) {
  Array out(DType::float32, value.shape());
  format.quantize(value.span<float>(), out.mutable_span<float>(), value.shape());
  return out;
}

Array decoded(const Format& format, const Encoded& encoded, const Shape& shape) {
  Array out(DType::float32, shape);
  format.decode(encoded, out.mutable_span<float>(), shape);
  return out;
}

std::optional<Encoded> encoded(const Format& format, const Array& value) {
  try {
    return format.encode(value.span<float>(), value.shape());
  } catch (const Error&) {  // NaN, or a format without codes: the floats say it
    return std::nullopt;
  }
}

/// Codes a tensor where they say all.
void code(ir::Tensor& tensor, const Format& format) {
  const Array& value = tensor.value;
  if (value.dtype() != DType::float32 || value.size() == 0) return;
  const auto decoding = format.decoding(value.shape());
  if (!decoding || !is_worth_table(*decoding, value)) return;
  std::optional<Encoded> codes = encoded(format, value);
  if (!codes) return;
  const Array meant = decoded(format, *codes, value.shape());
  if (!meant.same_bits(quantized(format, value)) || !meant.same_bits(quantized(format, meant)))
    return;
  const auto again = encoded(format, meant);
  if (!again || !is_same(*again, *codes)) return;
  tensor.value = meant;
  tensor.coded = std::make_shared<ir::CodedTensor>(ir::CodedTensor{format, std::move(*codes)});
}

}  // namespace

ir::Graph with_codes_alone(const ir::Graph& graph) {
  const ReaderMap readers(graph);
  ir::Graph coded = graph;
  for (auto& [path, tensor] : coded.tensors)
    if (const auto format = readers.format_of(path)) code(tensor, *format);
  return coded;
}

}  // namespace mase::checkpoint
