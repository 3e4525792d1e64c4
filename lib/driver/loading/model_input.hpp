// SPDX-License-Identifier: Apache-2.0
// Reads example inputs, in order or by name, and constant arguments from the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"
#include "driver/commands/commands.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// Example inputs, with names if they were given by name.
struct ExampleInputs {
  std::vector<Array> values;
  std::vector<std::string> names;
  std::vector<std::string> origins;  ///< file, option or data set of each input, for errors
};

/// Whether inputs are given as NAME=..., so that the model's argument names must be known.
bool has_names(const ModelInput& input);

/// The arrays of --input and --input-shape, in the order of the command line or, if they are given
/// by name, in the order of `arguments`. Error(Fault::config) for a name that is unknown or is
/// given twice, and if only some inputs have names.
ExampleInputs example_inputs(const ModelInput& input, std::uint64_t seed,
                             const std::vector<std::string>& arguments);

/// The names of a graph's inputs, in their order.
std::vector<std::string> input_names(const ir::Graph& graph);

/// The files that a model's import reads: the model's own and those that `input` names.
std::vector<std::string> files_read(const std::string& model, const ModelInput& input);

/// Reads "NAME=VALUE" texts. A value that is not JSON is a string. Error(Fault::config).
std::map<std::string, Tree> fixed_arguments(const std::vector<std::string>& texts);

}  // namespace mase::driver
