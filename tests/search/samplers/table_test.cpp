// SPDX-License-Identifier: Apache-2.0
// The sampler table: every row is found, explained and built.
#include <catch2/catch.hpp>
#include <set>

#include "search/samplers/sampler.hpp"

using namespace mase;
using namespace mase::samplers;

TEST_CASE("every sampler has names of its own and a sentence") {
  std::set<std::string_view> names;
  for (const std::string_view name : sampler_names()) {
    INFO(name);
    CHECK(names.insert(name).second);
    REQUIRE(find_sampler(name));
    CHECK(find_sampler(name)->doc.ends_with('.'));
  }
  CHECK(names.size() >= sampler_table().size());
  CHECK(find_sampler("brute") == nullptr);
}

TEST_CASE("every sampler is built without options and fills the space") {
  const Space space{{"bits", CategoricalDistribution{{Tree(2), Tree(4), Tree(8)}}, {}},
                    {"shared", CategoricalDistribution{{Tree(false), Tree(true)}}, {}}};
  for (const SamplerRow& row : sampler_table()) {
    INFO(row.name);
    Diagnostics diagnostics;
    row.check(Tree::dict(), diagnostics);
    CHECK(diagnostics.text().empty());
    const auto sampler = row.make({space, {Direction::minimize}, 1}, Tree::dict());
    const Params params = sampler->suggest({}, 0).params;
    REQUIRE(params.size() == 2);
    for (const Dimension& dimension : space)
      CHECK(contains(dimension.distribution, params.at(dimension.name)));
  }
}

TEST_CASE("a study is as long as asked unless its sampler says otherwise") {
  using Names = std::vector<std::string_view>;
  CHECK(sampler_names(StudyLength::whole_space) == Names{"grid", "bruteforce"});
  CHECK(sampler_names(StudyLength::as_enqueued) == Names{"allocate"});
}
