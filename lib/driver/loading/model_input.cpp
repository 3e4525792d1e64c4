// SPDX-License-Identifier: Apache-2.0
// Splits NAME=... and puts inputs into the order of the model's arguments.
#include "driver/loading/model_input.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "driver/loading/made_input.hpp"

namespace mase::driver {
namespace {

/// A name, which may be absent, and the text after it.
struct NamedText {
  std::string name, text;
};

NamedText without_name(const std::string& all) {
  const std::size_t equals = all.find('=');
  if (equals == std::string::npos || std::filesystem::exists(all)) return {"", all};
  return {all.substr(0, equals), all.substr(equals + 1)};
}

std::size_t place_of(const std::string& name, const std::vector<std::string>& arguments) {
  const auto found = std::ranges::find(arguments, name);
  if (found == arguments.end())
    config_error("the model has no input '" + name + "'" +
                 did_you_mean(name, arguments, "; it has " + join(arguments, ", ")));
  return static_cast<std::size_t>(found - arguments.begin());
}

}  // namespace

std::vector<std::string> input_names(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::NodeId id : graph.placeholders()) names.push_back(graph.node(id).target);
  return names;
}

std::vector<std::string> files_read(const std::string& model, const ModelInput& input) {
  std::vector<std::string> files = {model};
  for (const std::string& text : input.inputs) files.push_back(without_name(text).text);
  files.insert(files.end(), input.custom_ops.begin(), input.custom_ops.end());
  return files;
}

bool has_names(const ModelInput& input) {
  const auto named = [](const std::string& text) { return !without_name(text).name.empty(); };
  return std::ranges::any_of(input.inputs, named) || std::ranges::any_of(input.input_shapes, named);
}

ExampleInputs example_inputs(const ModelInput& input, std::uint64_t seed,
                             const std::vector<std::string>& arguments) {
  ExampleInputs inputs;
  struct Named {
    std::string name, origin;
    Array value;
  };
  std::map<std::size_t, Named> by_place;
  const auto add = [&](const std::string& name, const std::string& origin, Array value) {
    if (name.empty()) {
      inputs.origins.push_back(origin);
      return inputs.values.push_back(std::move(value));
    }
    if (!by_place.emplace(place_of(name, arguments), Named{name, origin, std::move(value)}).second)
      config_error("the input '" + name + "' is given twice");
  };
  for (const std::string& text : input.inputs) {
    const NamedText file = without_name(text);
    add(file.name, file.text, read_npy(file.text));
  }
  for (const std::string& text : input.input_shapes) {
    const NamedText shape = without_name(text);
    add(shape.name, "--input-shape", made_input(shape.text, seed));
  }
  if (!by_place.empty() && !inputs.values.empty())
    config_error("some inputs are given by name and others are not; give all as NAME=...");
  for (auto& [place, named] : by_place) {
    inputs.names.push_back(named.name);
    inputs.origins.push_back(named.origin);
    inputs.values.push_back(std::move(named.value));
  }
  return inputs;
}

std::map<std::string, Tree> fixed_arguments(const std::vector<std::string>& texts) {
  std::map<std::string, Tree> fixed;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      config_error("--fix " + text + ": expected NAME=VALUE, such as --fix scale=0.5");
    const std::string value = text.substr(equals + 1);
    Tree tree;
    try {
      tree = parse_json(value, "--fix");
    } catch (const Error&) {
      tree = Tree(value);
    }
    if (!fixed.emplace(text.substr(0, equals), std::move(tree)).second)
      config_error("--fix: the argument '" + text.substr(0, equals) + "' is fixed twice");
  }
  return fixed;
}

}  // namespace mase::driver
