// SPDX-License-Identifier: Apache-2.0
// The encodings of Optuna's columns.
#include "search/storage/encode.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/infinity.hpp"
#include "support/message_of.hpp"

namespace mase::storage {
namespace {

using test::infinity;

double violation(const std::string& attributes) {
  return violation_of(parse_json(attributes, "test"));
}

TEST_CASE("a violation is the sum of the constraints that are missed") {
  CHECK(violation("{}") == 0);
  CHECK(violation(R"({"constraints": []})") == 0);
  CHECK(violation(R"({"constraints": [-3, 0, 0.5, 2]})") == 2.5);
  CHECK(violation(R"({"constraints:drop": 0.25, "constraints:bits": -1})") == 0.25);
  CHECK(violation(R"({"constraints": [1, 2], "constraints:lut": 4})") == 7);
}

TEST_CASE("a named constraint replaces the entry of the list with that index") {
  CHECK(violation(R"({"constraints": [1, 2], "constraints:1": 8})") == 9);
}

TEST_CASE("constraints that are no numbers count as none") {
  CHECK(violation(R"({"constraints": null})") == 0);
  CHECK(violation(R"({"constraints": [null, "a", 1], "constraints:b": "c"})") == 1);
}

TEST_CASE("attributes keep numbers that are not finite, as Python writes them") {
  Tree tree = Tree::list();
  for (const double value : {infinity, -infinity, 1.5}) tree.push_back(value);
  tree.push_back("Infinity");
  CHECK(attribute_text(tree) == R"([Infinity,-Infinity,1.5,"Infinity"])");
  CHECK(attribute_from(attribute_text(tree)) == tree);
  CHECK(std::isnan(attribute_from(attribute_text(Tree(std::nan("")))).as_double()));
}

TEST_CASE("numbers that are not finite are a word without a value") {
  CHECK(stored(2.5).type == "FINITE");
  CHECK(std::get<double>(stored(2.5).value) == 2.5);
  for (const auto& [number, word] :
       {std::pair{infinity, "INF_POS"}, {-infinity, "INF_NEG"}, {std::nan(""), "NAN"}}) {
    CHECK(stored(number).type == word);
    CHECK(is_null(stored(number).value));
  }
}

TEST_CASE("times were local before Optuna 5") {
  for (const char* version : {"5.0.0", "5.0.0-rc1", "5.1.0.dev", "10.0.0", "unknown", ""})
    CHECK(zone_of(version) == Zone::utc);
  for (const char* version : {"4.9.0", "3.1.0", "0.9.0"}) CHECK(zone_of(version) == Zone::local);
}

TEST_CASE("a time is text with six decimals") {
  // 1,000,000,000 seconds after 1970 were over on 2001-09-09 at 01:46:40 UTC.
  CHECK(time_text(1000000000000007, Zone::utc) == "2001-09-09 01:46:40.000007");
  CHECK(time_from("2001-09-09 01:46:40.123999", Zone::utc) == 1000000000123);
  CHECK(time_from("2001-09-09 01:46:40", Zone::utc) == 1000000000000);
  CHECK(time_from("2001-09-09 01:46:40.5", Zone::utc) == 1000000000500);
  CHECK_FALSE(time_from("yesterday", Zone::utc));
}

}  // namespace
}  // namespace mase::storage
