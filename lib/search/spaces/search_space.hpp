// SPDX-License-Identifier: Apache-2.0
// SearchSpace: which parameters a search has, and what a choice of them does to the model.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.hpp"
#include "passes/runner.hpp"
#include "search/options.hpp"
#include "search/samplers/space.hpp"

namespace mase::search {

/// What parameters come to: the passes that make the model, and options over those of the tables of
/// runners that measure it, by runner.
struct Recipe {
  std::vector<passes::PassCall> calls;
  Tree runner_options = Tree::dict();
};

/// What a search chooses from, and how a choice becomes passes with options.
class SearchSpace {
 public:
  virtual ~SearchSpace() = default;

  /// What samplers choose. A key with one choice is pinned and is no dimension.
  const samplers::Space& dimensions() const { return dimensions_; }
  /// The passes that turn the original model into the one of these parameters. Layers that the
  /// parameters say nothing of stay as they are.
  virtual std::vector<passes::PassCall> calls(const samplers::Params& params) const = 0;
  /// What is recorded of a trial: the choices in the form of the configuration.
  virtual Tree sampled_config(const samplers::Params& params) const = 0;
  /// Options of runners that the parameters choose, by runner.
  virtual Tree runner_options(const samplers::Params&) const { return Tree::dict(); }
  Recipe recipe(const samplers::Params& params) const {
    return {calls(params), runner_options(params)};
  }

  /// Parts of the model with dimensions of their own, which exact allocation takes one by one.
  struct Layer {
    std::string name;
    std::vector<std::size_t> dimensions;
  };
  const std::vector<Layer>& layers() const { return layers_; }
  /// Why the costs of layers do not add up, so that there is no exact allocation; "" where they do.
  virtual std::string not_additive() const { return ""; }

 protected:
  samplers::Space dimensions_;
  std::vector<Layer> layers_;
};

/// One kind of space: its name, what its nodes can be chosen by, and its maker.
struct SpaceRow {
  std::string_view name;
  std::string_view part;  ///< its name where several spaces are searched together
  std::string_view doc;
  std::string_view title;            ///< in messages
  std::vector<std::string_view> by;  ///< values of `setup.by`
  std::unique_ptr<SearchSpace> (*make)(const SpaceOptions& options, const ir::Graph& graph,
                                       Diagnostics& diagnostics);
  std::string_view runner = "";  ///< the runner whose options it chooses
};

/// In the order in which the spaces of one search change the model.
const std::vector<SpaceRow>& space_table();
constexpr std::string_view default_space = "graph/quantize/mixed_precision_ptq";
std::vector<std::string_view> space_names();
/// nullptr for names that no row has.
const SpaceRow* find_space(std::string_view name);

/// Each row beside its space.
SpaceRow channel_multiplier_row();
SpaceRow mixed_precision_row();
SpaceRow folding_row();

/// Builds the space, or the spaces as one, that the options name for this graph. Unknown nodes,
/// ops, formats and keys, empty lists and choices that no format takes become diagnostics; a search
/// without any dimension too.
std::unique_ptr<SearchSpace> make_space(const Options& options, const ir::Graph& graph,
                                        Diagnostics& diagnostics);

/// The list of choices of a key; nullptr after a diagnostic when it is none or empty.
const Tree* choices_of(const Tree& config, const std::string& key, Diagnostics& diagnostics);

}  // namespace mase::search
