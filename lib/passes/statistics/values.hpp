// SPDX-License-Identifier: Apache-2.0
// Shows values to code that learns from them: tensors of the graph, and activations while the graph
// runs on data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "passes/pass.hpp"

namespace mase::passes {

/// The source of values: tensors by path, results of nodes by name, and the states that recurrent
/// nodes pass from step to step.
struct Source {
  std::string what;  ///< for messages: "node 'fc', port data_in"
  std::vector<std::string> tensors, nodes;
  std::vector<std::string> recurrent = {};
};

/// The source for the value of an argument, or for the tensor path of a parameter.
Source source_of(const ir::Graph& graph, std::string what, const ir::Value& value,
                 const std::string& tensor);

/// Sees the values of one source, one tensor at a time, of any floating type: a large tensor of a
/// file is as the file has it (formats::Pieces reads it in little memory). `index` is the source's
/// place in the list.
using SeeValues = std::function<void(std::size_t index, const Array& values)>;

/// Shows every floating-point tensor of the sources once, then the results of nodes while the graph
/// runs at `level` on `rows` rows of data, batch by batch. Masks (ir/masks.hpp) are shown as 0. The
/// graph runs only when a source needs it.
/// Error(Fault::config) when it must run without data or an evaluator; Error(Fault::file) names the
/// source of a value that is NaN or infinite.
void show_values(const ir::Graph& graph, const std::vector<Source>& sources, ir::Level level,
                 std::int64_t rows, const PassContext& context, const SeeValues& see);

}  // namespace mase::passes
