// The table of search spaces.
#include "search/spaces/search_space.hpp"

namespace mase::search {

std::unique_ptr<SearchSpace> make_space(const Options& options, const ir::Graph& graph,
                                        Diagnostics& diagnostics) {
  auto space = options.space == "graph/nas/channel_multiplier"
                   ? channel_multiplier_space(options, graph, diagnostics)
                   : mixed_precision_space(options, graph, diagnostics);
  if (space->dimensions().empty() && !diagnostics.has_errors())
    diagnostics.error(options.where,
                      "the search space has nothing to choose: no selected node has a key with two "
                      "or more choices");
  return space;
}

const Tree* choices_of(const Tree& config, const std::string& key, Diagnostics& diagnostics) {
  const Tree& choices = config.at(key);
  if (choices.is_list() && choices.size() > 0) return &choices;
  diagnostics.error(choices.where, "'" + key + "' must be a list with at least one choice");
  return nullptr;
}

}  // namespace mase::search
