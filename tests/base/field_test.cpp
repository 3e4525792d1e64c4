// SPDX-License-Identifier: Apache-2.0
// Reading, writing and documenting the fields of a struct.
#include "base/field.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"

using namespace mase;

namespace {

struct Options {
  bool scaled = true;
  int width = 8;
  std::int64_t seed = 0;
  double sparsity = 0.5;
  std::string by = "type";
  std::optional<double> lr;
  std::vector<int> block_size = {16};
  int any = 0;

  static constexpr auto fields() {
    return std::tuple{
        Field{"scaled", &Options::scaled, "multiply by the mean"},
        Field{"width", &Options::width, "bits"}.between(1, 32),
        Field{"seed", &Options::seed, "seed"}.at_least(0),
        Field{"sparsity", &Options::sparsity, "share of zeros"}.between(0, 1).target(),
        Field{"by", &Options::by, "selector"}.one_of("type", "name", "regex_name"),
        Field{"lr", &Options::lr, "rate"}.at_least(0),
        Field{"block_size", &Options::block_size, "block"}.at_least(-1),
        Field{"any", &Options::any, "any int"}};
  }
};

Tree entry(Tree value, int line) {
  value.where = {"x.toml", line, 10};
  value.key_where = {"x.toml", line, 1};
  return value;
}

/// The diagnostics of reading one entry; the options must keep their value.
std::string complaint(const std::string& key, Tree value) {
  Tree table = Tree::dict();
  table[key] = entry(std::move(value), 3);
  Options options;
  Diagnostics diagnostics;
  read_fields(table, options, diagnostics);
  REQUIRE(write_fields(options) == write_fields(Options{}));
  return diagnostics.text();
}

}  // namespace

TEST_CASE("good values of every type are read") {
  Tree table = Tree::dict();
  table["scaled"] = false;
  table["width"] = 32;
  table["seed"] = std::int64_t{1} << 40;
  table["sparsity"] = 1;  // an integer where a number is wanted
  table["by"] = "name";
  table["lr"] = 0.25;
  table["block_size"] = Tree::list_of(std::vector<int>{-1, 4});
  Options options;
  Diagnostics diagnostics;
  read_fields(table, options, diagnostics);
  REQUIRE(diagnostics.text().empty());
  REQUIRE(write_fields(options).at("block_size") == table["block_size"]);
  REQUIRE(options.width == 32);
  REQUIRE(options.seed == std::int64_t{1} << 40);
  REQUIRE(options.sparsity == 1.0);
  REQUIRE(options.by == "name");
  REQUIRE(options.lr == 0.25);
  REQUIRE_FALSE(options.scaled);
}

TEST_CASE("\"NA\" clears an optional field and is refused elsewhere") {
  Tree table = Tree::dict();
  table["lr"] = "NA";
  Options options;
  options.lr = 3.0;
  Diagnostics diagnostics;
  read_fields(table, options, diagnostics);
  REQUIRE_FALSE(options.lr);
  REQUIRE(complaint("width", "NA") ==
          "x.toml:3:10: error: option 'width' must be an integer, got \"NA\"");
}

TEST_CASE("an unknown key is named with the nearest valid one, at the key's place") {
  REQUIRE(complaint("widht", 8) ==
          "x.toml:3:1: error: unknown option 'widht'; did you mean 'width'?");
  REQUIRE(
      complaint("temperature", 8) ==
      "x.toml:3:1: error: unknown option 'temperature'; allowed: scaled, width, seed, sparsity, "
      "by, lr, block_size, any");
}

TEST_CASE("keys left to the caller are not unknown") {
  Tree table = Tree::dict();
  table["name"] = "integer";
  Options options;
  Diagnostics diagnostics;
  read_fields(table, options, diagnostics, {"name"});
  REQUIRE(diagnostics.all().empty());
}

TEST_CASE(
    "0 and 1 are flags, and a choice may be in capitals, as in files of the reference system") {
  Tree table = Tree::dict();
  table["scaled"] = 0;
  table["by"] = "NAME";
  Options options;
  Diagnostics diagnostics;
  read_fields(table, options, diagnostics);
  CHECK(diagnostics.all().empty());
  CHECK_FALSE(options.scaled);
  CHECK(options.by == "name");
}

TEST_CASE("a wrong type is reported with the wanted and the given type") {
  REQUIRE(complaint("width", "8") ==
          "x.toml:3:10: error: option 'width' must be an integer, got string");
  REQUIRE(complaint("width", 8.0) ==
          "x.toml:3:10: error: option 'width' must be an integer, got float");
  REQUIRE(complaint("sparsity", true) ==
          "x.toml:3:10: error: option 'sparsity' must be a number, got bool");
  REQUIRE(complaint("scaled", 2) ==
          "x.toml:3:10: error: option 'scaled' must be a bool, got integer");
  REQUIRE(complaint("by", 1) == "x.toml:3:10: error: option 'by' must be a string, got integer");
  REQUIRE(complaint("block_size", 4) ==
          "x.toml:3:10: error: option 'block_size' must be an array, got integer");
  REQUIRE_THAT(complaint("block_size", Tree::list_of(std::vector<double>{0.5})),
               Catch::Contains("option 'block_size' must be an integer, got float"));
}

TEST_CASE("a value out of range says the allowed range") {
  REQUIRE(complaint("sparsity", 1.5) ==
          "x.toml:3:10: error: option 'sparsity' is 1.5; allowed: 0 .. 1");
  REQUIRE(complaint("width", 0) == "x.toml:3:10: error: option 'width' is 0; allowed: 1 .. 32");
  REQUIRE(complaint("seed", -1) == "x.toml:3:10: error: option 'seed' is -1; allowed: >= 0");
  REQUIRE(complaint("sparsity", std::nan("")) ==
          "x.toml:3:10: error: option 'sparsity' is nan; allowed: 0 .. 1");
  REQUIRE(complaint("lr", -std::numeric_limits<double>::infinity()) ==
          "x.toml:3:10: error: option 'lr' is -inf; allowed: >= 0");
  REQUIRE(complaint("any", std::int64_t{3000000000}) ==
          "x.toml:3:10: error: option 'any' is 3000000000; allowed: -2147483648 .. 2147483647");
}

TEST_CASE("a value that is not among the choices says all of them and the nearest") {
  REQUIRE(complaint("by", "typ") ==
          "x.toml:3:10: error: option 'by' is \"typ\"; allowed: type | name | regex_name; did you "
          "mean \"type\"?");
  REQUIRE(complaint("by", "zzzz") ==
          "x.toml:3:10: error: option 'by' is \"zzzz\"; allowed: type | name | regex_name");
}

TEST_CASE("all problems of a table are reported in one run") {
  Tree table = Tree::dict();
  table["widht"] = entry(8, 1);
  table["sparsity"] = entry(2.0, 2);
  table["by"] = entry(false, 3);
  Options options;
  Diagnostics diagnostics;
  read_fields(table, options, diagnostics);
  REQUIRE(diagnostics.all().size() == 3);
  read_fields(Tree(3), options, diagnostics);
  REQUIRE(diagnostics.all().back().message == "option 'options' must be a table, got integer");
}

TEST_CASE("options are the same after writing and reading, also those without a value") {
  Options options;
  options.width = 3;
  options.sparsity = 0.1;
  Options back;
  back.lr = 1.0;
  Diagnostics diagnostics;
  read_fields(write_fields(options), back, diagnostics);
  REQUIRE(diagnostics.all().empty());
  REQUIRE(write_fields(back) == write_fields(options));
  REQUIRE(write_fields(options).at("lr") == Tree("NA"));
}

TEST_CASE("documentation has type, default and bounds") {
  const auto infos = describe_fields<Options>();
  const auto line = [](const FieldInfo& info) {
    return info.name + " | " + info.type + (info.optional ? "?" : "") + " | " + info.default_value +
           " | " + info.bounds_text();
  };
  REQUIRE(line(infos[0]) == "scaled | bool | true | ");
  REQUIRE(line(infos[1]) == "width | integer | 8 | 1 .. 32");
  REQUIRE(line(infos[3]) == "sparsity | number | 0.5 | 0 .. 1");
  REQUIRE(line(infos[4]) == "by | string | \"type\" | type | name | regex_name");
  REQUIRE(line(infos[5]) == "lr | number? | NA | >= 0");
  REQUIRE(line(infos[6]) == "block_size | list of integer | [16] | >= -1");
  for (const FieldInfo& info : infos) REQUIRE(info.target == (info.name == "sparsity"));
}
