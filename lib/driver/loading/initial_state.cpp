// SPDX-License-Identifier: Apache-2.0
// Tensors of the graph that stand for inputs.
#include "driver/loading/initial_state.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace mase::driver {
namespace {

/// By input.
std::map<std::string, Array> beginnings(const ir::Graph& graph) {
  std::map<std::string, Array> found;
  for (const auto& [path, tensor] : graph.tensors)
    if (!tensor.begins.empty()) found.emplace(tensor.begins, tensor.value);
  return found;
}

/// The rows of the batch that the graph was imported with; 0 without an input that tells.
std::int64_t rows_of(const ir::Graph& graph, const std::map<std::string, Array>& state) {
  for (const ir::NodeId id : graph.placeholders()) {
    const ir::Node& node = graph.node(id);
    if (!state.contains(node.target) && !node.info.shape.empty()) return node.info.shape.front();
  }
  return 0;
}

bool has_equal_rows(const Array& values) {
  const auto rows = static_cast<std::size_t>(values.shape().front());
  const std::size_t bytes = values.byte_size() / std::max<std::size_t>(1, rows);
  return std::equal(values.bytes(), values.bytes() + values.byte_size() - bytes,
                    values.bytes() + bytes);
}

data::InputColumn column_of(const std::string& name, const Array& values, std::int64_t rows) {
  const bool by_row = !values.shape().empty() && rows > 0 && values.shape().front() == rows;
  if (by_row && has_equal_rows(values)) return {name, values.rows(0, 1), true};
  return {name, values, false, std::max<std::int64_t>(1, rows)};
}

/// The values that a batch of so many rows begins with.
Array values_for(const data::InputColumn& input, std::int64_t rows) {
  Array all(input.values.dtype(), input.shape(rows));
  input.begin(rows, all.mutable_bytes());
  return all;
}

}  // namespace

std::vector<data::InputColumn> initial_state(const ir::Graph& graph) {
  const auto state = beginnings(graph);
  std::vector<data::InputColumn> found;
  for (const ir::NodeId id : graph.placeholders())
    if (const auto value = state.find(graph.node(id).target); value != state.end())
      found.push_back(column_of(value->first, value->second, rows_of(graph, state)));
  return found;
}

std::vector<Array> with_initial_state(const ir::Graph& graph, ExampleInputs given) {
  if (given.values.empty()) return {};
  const std::vector<data::InputColumn> state = initial_state(graph);
  const Shape first = given.values.front().shape();
  const std::int64_t rows = first.empty() ? 1 : first.front();
  std::vector<Array> all;
  std::vector<std::string> begun;
  std::size_t used = 0;
  for (const ir::NodeId id : graph.placeholders()) {
    const std::string& name = graph.node(id).target;
    const bool is_given = given.names.empty()
                              ? used < given.values.size()
                              : used < given.names.size() && given.names[used] == name;
    const auto beginning = std::ranges::find(state, name, &data::InputColumn::name);
    if (is_given) {
      all.push_back(std::move(given.values[used++]));
    } else if (beginning != state.end()) {
      all.push_back(values_for(*beginning, rows));
      begun.push_back(name);
    } else {
      config_error("the model takes " + join(input_names(graph), ", ") +
                   "; no values were given for " + name);
    }
  }
  if (used < given.values.size())
    config_error("the model takes " + std::to_string(all.size()) + " inputs (" +
                 join(input_names(graph), ", ") + "), " + std::to_string(given.values.size()) +
                 " were given");
  if (!begun.empty())
    log::info("the state of the model begins with the values in the checkpoint: " +
              join(begun, ", ") + " (--input NAME=FILE.npy for another value)");
  return all;
}

}  // namespace mase::driver
