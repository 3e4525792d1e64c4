// SPDX-License-Identifier: Apache-2.0
// The format table, the text form and reading fields with diagnostics.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "formats/format.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

std::string problems(const std::string& name, const Tree& fields) {
  Diagnostics diagnostics;
  const auto format = find_format(name)->make(fields, diagnostics);
  CHECK(format.has_value() == !diagnostics.has_errors());
  return diagnostics.text();
}

Tree dict(std::initializer_list<std::pair<std::string, Tree>> entries) {
  return Tree(Tree::Dict(entries));
}

bool has_field(const FormatRow& row, std::string_view name) {
  return std::any_of(row.fields.begin(), row.fields.end(),
                     [&](const FieldInfo& field) { return field.name == name; });
}

}  // namespace

TEST_CASE("the text form reads back to the same format") {
  for (const char* text : {"integer(8, 4)", "integer(32, -126)", "integer(8, 4, is_signed=false)",
                           "integer(8, 4, rounding=floor)", "integer(8, 4, profile=reference)",
                           "integer(6, 2, rounding=stochastic, seed=12)", "integer_floor(8, 4)",
                           "integer_floor(8, 12, is_signed=false, profile=reference)"}) {
    CHECK(parse_format(text).text() == text);
    CHECK(parse_format(parse_format(text).text()) == parse_format(text));
  }
}

TEST_CASE("the text form is canonical") {
  CHECK(parse_format(" integer ( 8,frac_width = 4 , is_signed=true ) ").text() == "integer(8, 4)");
  CHECK(parse_format("integer(9)").text() == "integer(9, 4)");
  CHECK(parse_format("integer(width=8, frac_width=NA)").text() == "integer(8, 4)");
  CHECK(parse_format("integer").text() == "integer(8, 4)");
  CHECK(parse_format("integer(8, 4, rounding=\"floor\")").text() ==
        "integer(8, 4, rounding=floor)");
}

TEST_CASE("a wrong text form names its place") {
  const auto refuses = [](const char* text, const char* message) {
    CHECK_THROWS_WITH(parse_format(text), Catch::Contains(message));
  };
  refuses("intger(8, 4)", "did you mean 'integer'?");
  refuses("integer(40, 4)", "'integer(40, 4)':1:9: error: ");
  refuses("integer(8, 4, is_singed=false)", "did you mean 'is_signed'?");
  refuses("integer(8, 4", "expected ',' or ')'");
  refuses("integer(8, 4) x", "unexpected text");
  refuses("integer(8, width=4)", "by position and by key");
  refuses("integer(width=8, width=4)", "'width' is given twice");
  refuses("integer(width=8, 4)", "a value without a key follows one with a key");
  refuses("integer(8, 4, true, floor, exact, identity, 0, tensor, [], 0)",
          "takes at most 9 parameters, but 10 are given");
  refuses("integer([8, 4], 4)", "1:9");
  refuses("integer(8, 4, rounding=\"floor)", "a quoted text has no end");
  refuses("", "expected a name");
}

TEST_CASE("fields are resolved and complete") {
  const Tree fields = parse_format("integer(9)").fields();
  CHECK(fields.at("width") == Tree(9));
  CHECK(fields.at("frac_width") == Tree(4));
  CHECK(fields.at("rounding") == Tree("nearest_even"));
  CHECK(fields.at("granularity") == Tree("tensor"));
  CHECK(fields.size() == 9);
}

TEST_CASE("make reports every problem at its place") {
  Tree width(64);
  width.where = {"a.toml", 3, 16};
  Tree rounding("up");
  rounding.where = {"a.toml", 4, 12};
  const std::string text = problems("integer", dict({{"width", width}, {"rounding", rounding}}));
  CHECK(text.find("a.toml:3:16: error: ") != std::string::npos);
  CHECK(text.find("a.toml:4:12: error: ") != std::string::npos);
}

TEST_CASE("make suggests the key that was meant and knows no rounding of integer_floor") {
  CHECK(problems("integer", dict({{"widht", Tree(8)}})).find("'width'") != std::string::npos);
  CHECK(problems("integer_floor", dict({{"rounding", Tree("floor")}})).find("rounding") !=
        std::string::npos);
}

TEST_CASE("profile reference is also read by its old name") {
  for (const FormatRow& row : format_table()) {
    if (!has_field(row, "profile") || row.name == "nvfp4") continue;
    const Format old = parse_format(row.name + "(profile=mase)");
    CHECK(old == parse_format(row.name + "(profile=reference)"));
    CHECK(old.text().find("profile=reference") != std::string::npos);
    CHECK(old.fields().at("profile").as_string() == "reference");
  }
  CHECK(problems("integer", dict({{"profile", Tree("mase")}})).empty());
  CHECK(problems("integer", dict({{"profile", Tree("mas")}})).find("exact | reference") !=
        std::string::npos);
}

TEST_CASE("the reference profile knows nearest_even and floor only") {
  for (const char* rounding : {"nearest_away", "stochastic"})
    CHECK(problems("integer", dict({{"profile", Tree("mase")}, {"rounding", Tree(rounding)}}))
              .find("has no rounding") != std::string::npos);
  for (const char* rounding : {"nearest_even", "floor"})
    CHECK(problems("integer", dict({{"profile", Tree("mase")}, {"rounding", Tree(rounding)}}))
              .empty());
}

TEST_CASE("a stochastic format has a deterministic one, and others with other numbers") {
  for (const FormatRow& row : format_table()) {
    INFO(row.name);
    const std::string key = has_field(row, "rounding")     ? "rounding=stochastic"
                            : has_field(row, "stochastic") ? "stochastic=true"
                                                           : "";
    const Format plain = parse_format(row.name);
    CHECK_FALSE(plain.is_stochastic());
    CHECK(plain.deterministic() == plain);
    CHECK(plain.reseeded(5) == plain);
    if (key.empty()) continue;
    const Format drawn = parse_format(row.name + "(" + key + ", seed=6)");
    CHECK(drawn.is_stochastic());
    CHECK(drawn.deterministic() == plain);
    CHECK(drawn.reseeded(0) == drawn);
    CHECK(drawn.reseeded(~std::uint64_t{0}).fields().at("seed").as_int() >= 0);
    CHECK(drawn.reseeded(8).fields().at("seed").as_int() == (6 ^ 4));
    CHECK(parse_format(drawn.reseeded(8).text()) == drawn.reseeded(8));
  }
}

TEST_CASE("a seed that has no effect is a warning") {
  CHECK(problems("integer", dict({{"seed", Tree(3)}})).find("no effect") != std::string::npos);
}

TEST_CASE("the table lists every format once, with documented fields") {
  const std::vector<std::string> names = format_names();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const FormatRow& row : format_table()) {
    CHECK_FALSE(row.doc.empty());
    for (const FieldInfo& field : row.fields) CHECK_FALSE(field.doc.empty());
  }
  CHECK(find_format("decimal") == nullptr);
}

TEST_CASE("finite values near the largest stay finite in every format") {
  constexpr float largest = std::numeric_limits<float>::max();
  std::vector<float> in;
  for (int i = 0; i < 64; ++i)
    in.push_back((i % 3 == 0 ? -1.0F : 1.0F) * largest * (1 - float(i % 16) / 64));
  for (const FormatRow& row : format_table()) {
    INFO(row.name);
    std::vector<float> out(in.size());
    parse_format(std::string(row.name)).quantize(in, out, {2, 32});
    CHECK(std::all_of(out.begin(), out.end(), [](float value) { return std::isfinite(value); }));
  }
}
