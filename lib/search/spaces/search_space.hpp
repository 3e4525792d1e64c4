// SearchSpace: which parameters a search has, and what a choice of them does to the model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "passes/runner.hpp"
#include "search/options.hpp"
#include "search/samplers/space.hpp"

namespace mase::search {

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

  /// Parts of the model with dimensions of their own, which exact allocation takes one by one.
  struct Layer {
    std::string name;
    std::vector<std::size_t> dimensions;
  };
  const std::vector<Layer>& layers() const { return layers_; }

 protected:
  samplers::Space dimensions_;
  std::vector<Layer> layers_;
};

/// Builds the space that the options name for this graph. Unknown nodes, ops, formats and keys,
/// empty lists and choices that no format takes become diagnostics; a space without any dimension
/// too.
std::unique_ptr<SearchSpace> make_space(const Options& options, const ir::Graph& graph,
                                        Diagnostics& diagnostics);

/// The spaces, for make_space.
std::unique_ptr<SearchSpace> mixed_precision_space(const Options& options, const ir::Graph& graph,
                                                   Diagnostics& diagnostics);
std::unique_ptr<SearchSpace> channel_multiplier_space(const Options& options,
                                                      const ir::Graph& graph,
                                                      Diagnostics& diagnostics);

/// The list of choices of a key; nullptr after a diagnostic when it is none or empty.
const Tree* choices_of(const Tree& config, const std::string& key, Diagnostics& diagnostics);

}  // namespace mase::search
