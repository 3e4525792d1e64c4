// SPDX-License-Identifier: Apache-2.0
// Tensors come from the graph; an observer sees the results of nodes.
#include "passes/statistics/values.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "formats/pieces.hpp"
#include "ir/masks.hpp"

namespace mase::passes {
namespace {

/// Replaces masks by 0, the number that a format which keeps masks rounds in their place.
Array without_masks(Array values) {
  for (float& value : values.mutable_span<float>())
    if (value <= ir::mask_bound) value = 0;
  return values;
}

void show(const Source& source, std::size_t index, const Array& array, bool masked,
          const SeeValues& see) {
  if (!is_floating(array.dtype())) return;
  const Array values = masked ? without_masks(array.to_float32()) : array;
  const formats::Pieces pieces(values.shape(), formats::usual_piece);
  pieces.for_each(values, [&](const formats::Piece&, const Array& part) {
    const auto span = part.span<float>();
    const auto odd =
        std::find_if_not(span.begin(), span.end(), [](float v) { return std::isfinite(v); });
    if (odd != span.end())
      file_error(source.what + ": a value is " + double_text(*odd) +
                 "; statistics and ranges are taken from finite values only");
  });
  see(index, values);
}

}  // namespace

Source source_of(const ir::Graph& graph, std::string what, const ir::Value& value,
                 const std::string& tensor) {
  Source source{std::move(what), {}, {}};
  if (!tensor.empty()) source.tensors.push_back(tensor);
  value.for_each_node([&](ir::NodeId id) {
    const ir::Node& given = graph.node(id);
    if (given.kind == ir::NodeKind::get_attr)
      source.tensors.push_back(given.target);
    else
      source.nodes.push_back(given.name);
  });
  return source;
}

void show_values(const ir::Graph& graph, const std::vector<Source>& sources, ir::Level level,
                 std::int64_t rows, const PassContext& context, const SeeValues& see) {
  using Place = std::pair<std::string, std::string>;  // node and port, as an observer sees them
  const ir::Masks masks(graph);
  const auto masked_tensor = [&](const std::string& path) {
    return std::ranges::any_of(graph.order(), [&](ir::NodeId id) {
      return masks.in(id) && graph.node(id).target == path;
    });
  };
  std::multimap<Place, std::size_t> readers;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const std::string& path : sources[i].tensors)
      show(sources[i], i, graph.tensors.at(path).value.as_stored(), masked_tensor(path), see);
    for (const std::string& node : sources[i].nodes) readers.emplace(Place(node, "data_out"), i);
    for (const std::string& node : sources[i].recurrent) readers.emplace(Place(node, "state"), i);
  }
  if (readers.empty()) return;
  if (!context.has_data())
    config_error(sources[readers.begin()->second].what +
                 ": its values can only come from data; name a data set (`mase list datasets`) or "
                 "give example inputs with --input");
  const auto evaluator = context.evaluator(graph, level);
  const auto observe = [&](const ir::Node& node, const std::string& port, const Array& value) {
    const auto [first, last] = readers.equal_range(Place(node.name, port));
    for (auto reader = first; reader != last; ++reader)
      show(sources[reader->second], reader->second, value, port == "data_out" && masks.in(node.id),
           see);
  };
  context.each_batch(rows,
                     [&](const std::vector<Array>& inputs) { evaluator->run(inputs, observe); });
}

}  // namespace mase::passes
