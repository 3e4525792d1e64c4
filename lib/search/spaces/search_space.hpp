// SPDX-License-Identifier: Apache-2.0
// SearchSpace has the parameters of a search, and turns a choice of them into changes of the model.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/integer/program.hpp"
#include "ir/graph.hpp"
#include "passes/runner.hpp"
#include "search/options.hpp"
#include "search/samplers/space.hpp"

namespace mase::search {

/// The meaning of parameters: the passes that make the model and, by runner, options that override
/// those in the tables of the runners that measure it.
struct Recipe {
  std::vector<passes::PassCall> calls;
  Tree runner_options = Tree::dict();
};

/// The choices of a search, and their translation to passes with options.
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;

  /// The dimensions that samplers choose. A key with only one choice is pinned and not a dimension.
  const samplers::Space& dimensions() const { return dimensions_; }
  /// The passes that turn the original model into the model for these parameters. Layers that no
  /// parameter concerns stay unchanged.
  virtual std::vector<passes::PassCall> calls(const samplers::Params& params) const = 0;
  /// The record of a trial: its choices in the form of the configuration.
  virtual Tree sampled_config(const samplers::Params& params) const = 0;
  /// The options of runners that the parameters choose, by runner.
  virtual Tree runner_options(const samplers::Params&) const { return Tree::dict(); }
  Recipe recipe(const samplers::Params& params) const {
    return {calls(params), runner_options(params)};
  }

  /// Reports choices with which a node has no datapath, whatever the others are.
  virtual void check_hardware(const ir::Graph&, integer::Contents, Diagnostics&) const {}

  /// A part of the model with its own dimensions, which exact allocation measures separately.
  struct Layer {
    std::string name;
    std::vector<std::size_t> dimensions;
  };
  const std::vector<Layer>& layers() const { return layers_; }
  /// The reason why the costs of layers do not add up and allocation is impossible; "" if they do.
  virtual std::string not_additive() const { return ""; }

 protected:
  samplers::Space dimensions_;
  std::vector<Layer> layers_;
};

/// A kind of space: its name, the allowed values of `by`, and the function that makes it.
struct SpaceRow {
  std::string_view name;
  std::string_view part;  ///< its name if several spaces are searched together
  std::string_view doc;
  std::string_view title;            ///< for messages
  std::vector<std::string_view> by;  ///< allowed values of `setup.by`
  std::unique_ptr<SearchSpace> (*make)(const SpaceOptions& options, const ir::Graph& graph,
                                       Diagnostics& diagnostics);
  std::string_view runner = "";  ///< the runner whose options it chooses
};

/// All kinds of spaces, in the order in which the spaces of a search change the model.
const std::vector<SpaceRow>& space_table();
constexpr std::string_view default_space = "graph/quantize/mixed_precision_ptq";
std::vector<std::string_view> space_names();
/// The kind of space with this name, or nullptr.
const SpaceRow* find_space(std::string_view name);

/// The rows. Each is defined in the file of its space.
SpaceRow channel_multiplier_row();
SpaceRow mixed_precision_row();
SpaceRow folding_row();

/// Builds the space that the options name for this graph, or combines several. Diagnostics report
/// unknown nodes, ops, formats and keys, empty lists, choices that no format accepts, and a search
/// without any dimension.
std::unique_ptr<SearchSpace> make_space(const Options& options, const ir::Graph& graph,
                                        Diagnostics& diagnostics);

/// The list of choices of a key; nullptr after a diagnostic if it is not a list or is empty.
const Tree* choices_of(const Tree& config, const std::string& key, Diagnostics& diagnostics);

}  // namespace mase::search
