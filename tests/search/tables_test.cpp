// SPDX-License-Identifier: Apache-2.0
// The tables of a search: every row has its names, its sentence and works.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "config/toml.hpp"
#include "models/registry.hpp"
#include "search/spaces/search_space.hpp"

using namespace mase;
using namespace mase::search;

namespace {

ir::Graph model() {
  const models::ModelRow* row = models::find_model("jsc-tiny");
  return row->build(row->sample_shape, row->classes, 0);
}

/// What a space of this row says of an empty seed, chosen by `by`.
std::string problems_of(const SpaceRow& row, std::string_view by) {
  Options options;
  SpaceOptions& space = options.spaces.emplace_back();
  space.name = row.name;
  space.setup.by = by;
  Diagnostics diagnostics;
  make_space(options, model(), diagnostics);
  return diagnostics.text();
}

}  // namespace

TEST_CASE("every space has a name, a sentence, and refuses what others choose by") {
  std::set<std::string_view> names;
  for (const SpaceRow& row : space_table()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.doc.ends_with('.'));
    CHECK_FALSE(row.by.empty());
    for (const std::string_view by : space_choices_by()) {
      const bool takes = std::find(row.by.begin(), row.by.end(), by) != row.by.end();
      CHECK((problems_of(row, by).find("setup.by of") == std::string::npos) == takes);
    }
  }
}

TEST_CASE("a file names any space of the table, mixed precision by default, and no other") {
  const auto read = [](const std::string& table) {
    Diagnostics diagnostics;
    const std::string text = table + "[search_space.setup]\n[search_space.seed]\n";
    const Options options = read_options(config::parse_toml(text, "x.toml"), diagnostics);
    return std::pair(options.spaces.front().name, diagnostics.text());
  };
  for (const SpaceRow& row : space_table())
    CHECK(read("[search_space]\nname = \"" + std::string(row.name) + "\"\n").first == row.name);
  CHECK(read("").first == "graph/quantize/mixed_precision_ptq");
  CHECK(read("[search_space]\nname = \"graph/nas/channels\"\n")
            .second.find(
                "allowed: graph/nas/channel_multiplier | graph/quantize/mixed_precision_ptq | "
                "graph/hardware/folding") != std::string::npos);
}
