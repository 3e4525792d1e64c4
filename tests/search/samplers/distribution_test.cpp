// SPDX-License-Identifier: Apache-2.0
// Distributions: values, encodings, counts, Optuna's JSON and compatibility.
#include "search/samplers/distribution.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"

using namespace mase;
using namespace mase::samplers;

namespace {

const Distribution widths = IntDistribution{2, 9, 3, false};  // 2, 5, 8
const Distribution formats =
    CategoricalDistribution{{Tree("integer"), Tree(), Tree(8), Tree(true)}};
const Distribution rates = FloatDistribution{0.0, 1.0, 0.3, false};  // 0, 0.3, 0.6, 0.9
const Distribution logs = FloatDistribution{1e-5, 1e-1, std::nullopt, true};

std::string message_of(const std::string& json) {
  try {
    distribution_from(parse_json(json, "study.db"), "study.db");
  } catch (const Error& error) {
    REQUIRE(error.fault() == Fault::file);
    return error.what();
  }
  return "";
}

Distribution read(const std::string& json) { return distribution_from(parse_json(json, "x"), "x"); }

}  // namespace

TEST_CASE("internal values are the number itself, or the index of a choice") {
  REQUIRE(external_value(widths, 5.0) == Tree(5));
  REQUIRE(external_value(logs, 0.01) == Tree(0.01));
  REQUIRE(external_value(formats, 1.0) == Tree());
  REQUIRE(internal_value(formats, Tree(8)) == 2.0);
  REQUIRE(internal_value(formats, Tree(8.0)) == 2.0);  // Python: 8 == 8.0
  REQUIRE(internal_value(formats, Tree(true)) == 3.0);
  REQUIRE(internal_value(widths, Tree(8)) == 8.0);
}

TEST_CASE("a value that is not the distribution's has no internal value") {
  REQUIRE_FALSE(internal_value(formats, Tree("float")));
  REQUIRE_FALSE(internal_value(formats, Tree(1)));  // true is no number
  REQUIRE_FALSE(internal_value(widths, Tree(6)));
  REQUIRE_FALSE(internal_value(widths, Tree("5")));
  REQUIRE_FALSE(internal_value(logs, Tree(1.0)));
}

TEST_CASE("containment obeys bounds, steps and the number of choices") {
  REQUIRE(contains(rates, 0.1 + 0.2));  // 0.30000000000000004
  REQUIRE_FALSE(contains(rates, 0.31));
  REQUIRE_FALSE(contains(rates, 1.2));
  REQUIRE(contains(widths, 8.0));
  REQUIRE_FALSE(contains(widths, 9.0));
  REQUIRE_FALSE(contains(widths, 5.5));
  REQUIRE(contains(formats, 3.0));
  REQUIRE_FALSE(contains(formats, 4.0));
  REQUIRE_FALSE(contains(formats, -1.0));
  REQUIRE_FALSE(contains(logs, std::nan("")));
}

TEST_CASE("countable distributions number their values from the lowest") {
  REQUIRE(cardinality(widths) == 3);
  REQUIRE(cardinality(rates) == 4);
  REQUIRE(cardinality(formats) == 4);
  REQUIRE_FALSE(cardinality(logs));
  REQUIRE(value_at(widths, 2) == 8.0);
  REQUIRE(value_at(rates, 3) == Approx(0.9));
  REQUIRE(value_at(formats, 2) == 2.0);
  REQUIRE(cardinality(FloatDistribution{0.0, 1.0, 0.1, false}) == 11);  // 1.0 / 0.1 rounds
  REQUIRE(cardinality(IntDistribution{INT64_MIN, INT64_MAX, 1, false}) == INT64_MAX);
}

TEST_CASE("distributions read back from their own JSON, in Optuna's shape") {
  for (const Distribution& distribution : {widths, formats, rates, logs})
    REQUIRE(distribution_from(to_tree(distribution), "x") == distribution);
  REQUIRE(to_json(to_tree(IntDistribution{2, 8, 1, false}), -1) ==
          R"({"name":"IntDistribution","attributes":{"log":false,"step":1,"low":2,"high":8}})");
  REQUIRE(to_json(to_tree(logs), -1) == R"({"name":"FloatDistribution","attributes":)"
                                        R"({"step":null,"low":1e-05,"high":0.1,"log":true}})");
}

TEST_CASE("the short shape and the deprecated names of Optuna are read") {
  REQUIRE(read(R"({"type": "int", "low": 1, "high": 4})") == Distribution(IntDistribution{1, 4}));
  REQUIRE(read(R"({"type": "float", "low": 1, "high": 4, "log": true})") ==
          Distribution(FloatDistribution{1, 4, std::nullopt, true}));
  REQUIRE(read(R"({"type": "categorical", "choices": [1, null]})") ==
          Distribution(CategoricalDistribution{{Tree(1), Tree()}}));
  const auto old = [](const std::string& name, const std::string& attributes) {
    return read(R"({"name": ")" + name + R"(", "attributes": )" + attributes + "}");
  };
  REQUIRE(old("UniformDistribution", R"({"low": 0.0, "high": 2.0})") ==
          Distribution(FloatDistribution{0, 2}));
  REQUIRE(old("LogUniformDistribution", R"({"low": 0.5, "high": 2.0})") ==
          Distribution(FloatDistribution{0.5, 2, std::nullopt, true}));
  REQUIRE(old("DiscreteUniformDistribution", R"({"low": 0.0, "high": 2.0, "q": 0.5})") ==
          Distribution(FloatDistribution{0, 2, 0.5, false}));
  REQUIRE(old("IntUniformDistribution", R"({"low": 0, "high": 4, "step": 2})") ==
          Distribution(IntDistribution{0, 4, 2, false}));
  REQUIRE(old("IntLogUniformDistribution", R"({"low": 1, "high": 4, "step": 1})") ==
          Distribution(IntDistribution{1, 4, 1, true}));
}

TEST_CASE("a broken distribution is refused with its origin and reason") {
  using Catch::Contains;
  REQUIRE_THAT(message_of("[]"), Contains("study.db") && Contains("\"name\""));
  REQUIRE_THAT(message_of(R"({"type": "gamma"})"), Contains("\"gamma\" is unknown"));
  REQUIRE_THAT(message_of(R"({"type": "int", "low": 3, "high": 1})"), Contains("above"));
  REQUIRE_THAT(message_of(R"({"type": "int", "low": 0.5, "high": 1})"), Contains("integer"));
  REQUIRE_THAT(message_of(R"({"type": "int", "low": 0, "high": 1, "log": true})"),
               Contains("at least 1"));
  REQUIRE_THAT(message_of(R"({"type": "int", "low": 1, "high": 9, "log": true, "step": 2})"),
               Contains("step must be 1"));
  REQUIRE_THAT(message_of(R"({"type": "int", "low": 1, "high": 9, "step": 0})"),
               Contains("at least 1"));
  REQUIRE_THAT(message_of(R"({"type": "float", "low": 0})"), Contains("\"high\""));
  REQUIRE_THAT(message_of(R"({"type": "float", "low": 0, "high": 1, "log": true})"),
               Contains("above 0"));
  REQUIRE_THAT(message_of(R"({"type": "float", "low": 1, "high": 2, "log": 3})"),
               Contains("true or false"));
  REQUIRE_THAT(message_of(R"({"type": "float", "low": 0, "high": 1, "step": -1})"),
               Contains("step must be above 0"));
  REQUIRE_THAT(message_of(R"({"type": "float", "low": 1, "high": 2, "log": true, "step": 1})"),
               Contains("exclude"));
  REQUIRE_THAT(message_of(R"({"type": "categorical", "choices": []})"), Contains("at least one"));
  REQUIRE_THAT(message_of(R"({"type": "categorical", "choices": [[1]]})"), Contains("scalar"));
}

TEST_CASE("compatible distributions agree in kind, log and choices; ranges may differ") {
  REQUIRE(compatible(widths, IntDistribution{0, 100}));
  REQUIRE_FALSE(compatible(widths, IntDistribution{1, 100, 1, true}));
  REQUIRE_FALSE(compatible(widths, rates));
  REQUIRE_FALSE(compatible(rates, logs));
  REQUIRE(compatible(formats, formats));
  REQUIRE_FALSE(compatible(formats, CategoricalDistribution{{Tree("integer")}}));
}
