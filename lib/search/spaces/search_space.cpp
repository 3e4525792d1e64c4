// SPDX-License-Identifier: Apache-2.0
// The table of search spaces.
#include "search/spaces/search_space.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/join_trees.hpp"
#include "base/text.hpp"
#include "search/spaces/combined_space.hpp"

namespace mase::search {
namespace {

const SpaceRow& row_of(const std::string& name) {
  const SpaceRow* row = find_space(name);
  MASE_CHECK(row, "no search space '" + name + "'");
  return *row;
}

void check_by(const SpaceRow& row, const SpaceOptions& options, Diagnostics& diagnostics) {
  if (std::find(row.by.begin(), row.by.end(), options.setup.by) != row.by.end()) return;
  std::vector<std::string> allowed;
  for (const std::string_view by : row.by) allowed.push_back(quote(by));
  diagnostics.error(options.where,
                    "setup.by of " + std::string(row.title) + " is " + join(allowed, " or "));
}

/// Checks that the space's options for the hardware runner are valid with the runner's own table.
void check_runner_options(const SearchSpace& space, const Options& options,
                          Diagnostics& diagnostics) {
  const Tree given = space.runner_options(samplers::first_configuration(space.dimensions()));
  const Tree* own = given.find(HardwareCost::doc.name);
  if (own && options.runners.hardware && !diagnostics.has_errors())
    HardwareCost::read(join_trees(options.runners.hardware->options, *own), diagnostics);
}

}  // namespace

const std::vector<SpaceRow>& space_table() {
  static const std::vector<SpaceRow> table{channel_multiplier_row(), mixed_precision_row(),
                                           folding_row()};
  return table;
}

const SpaceRow* find_space(std::string_view name) {
  for (const SpaceRow& row : space_table())
    if (row.name == name) return &row;
  return nullptr;
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
  MASE_CHECK(!options.spaces.empty(), "a search without a space");
  std::vector<SpacePart> parts;
  for (const SpaceOptions& part : options.spaces) {
    const SpaceRow& row = row_of(part.name);
    check_by(row, part, diagnostics);
    parts.push_back({std::string(row.part), row.make(part, graph, diagnostics)});
  }
  auto space = parts.size() == 1 ? std::move(parts.front().space) : combine(std::move(parts));
  check_runner_options(*space, options, diagnostics);
  if (space->dimensions().empty() && !diagnostics.has_errors())
    diagnostics.error(options.spaces.front().where,
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
