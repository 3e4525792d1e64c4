// SPDX-License-Identifier: Apache-2.0
// What the command line says of a model's arguments: examples, in order or by name, and constants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/tree.hpp"
#include "driver/commands.hpp"

namespace mase::driver {

/// Example inputs; with their names where they were chosen by name.
struct ExampleInputs {
  std::vector<Array> values;
  std::vector<std::string> names;
  std::vector<std::string> origins;  ///< a file, an option or a data set each, for errors
};

/// Whether inputs are given as NAME=..., so that the model's argument names must be known.
bool has_names(const ModelInput& input);

/// The arrays of --input and --input-shape: in the order of the command line, or, where they are
/// given by name, in that of `arguments`. Error(Fault::config) for a name that is unknown or stands
/// twice, and where only some have names.
ExampleInputs example_inputs(const ModelInput& input, std::uint64_t seed,
                             const std::vector<std::string>& arguments);

/// The files that a model's import reads: the model's own and those that `input` names.
std::vector<std::string> files_read(const std::string& model, const ModelInput& input);

/// "NAME=VALUE" as constants by name: JSON, or else a text. Error(Fault::config).
std::map<std::string, Tree> fixed_arguments(const std::vector<std::string>& texts);

}  // namespace mase::driver
