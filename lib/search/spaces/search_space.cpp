// SPDX-License-Identifier: Apache-2.0
// The table of search spaces.
#include "search/spaces/search_space.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::search {
namespace {

const SpaceRow& row_of(const std::string& name) {
  const auto& table = space_table();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const SpaceRow& entry) { return entry.name == name; });
  MASE_CHECK(row != table.end(), "no search space '" + name + "'");
  return *row;
}

void check_by(const SpaceRow& row, const Options& options, Diagnostics& diagnostics) {
  if (std::find(row.by.begin(), row.by.end(), options.space_setup.by) != row.by.end()) return;
  std::vector<std::string> allowed;
  for (const std::string_view by : row.by) allowed.push_back(quote(by));
  diagnostics.error(options.where,
                    "setup.by of " + std::string(row.title) + " is " + join(allowed, " or "));
}

}  // namespace

const std::vector<SpaceRow>& space_table() {
  static const std::vector<SpaceRow> table{mixed_precision_row(), channel_multiplier_row()};
  return table;
}

std::vector<std::string_view> space_names() {
  std::vector<std::string_view> names;
  for (const SpaceRow& row : space_table()) names.push_back(row.name);
  return names;
}

std::vector<std::string_view> space_choices_by() {
  std::vector<std::string_view> all;
  for (const SpaceRow& row : space_table())
    for (const std::string_view by : row.by)
      if (std::find(all.begin(), all.end(), by) == all.end()) all.push_back(by);
  return all;
}

std::unique_ptr<SearchSpace> make_space(const Options& options, const ir::Graph& graph,
                                        Diagnostics& diagnostics) {
  const SpaceRow& row = row_of(options.space);
  check_by(row, options, diagnostics);
  auto space = row.make(options, graph, diagnostics);
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
