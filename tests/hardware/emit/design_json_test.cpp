// SPDX-License-Identifier: Apache-2.0
// Reading design.json back, also when somebody changed it.
#include "hardware/emit/design_json.hpp"

#include <catch2/catch.hpp>

#include "support/message_of.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

std::string with(const std::string& entries) { return R"({"name": "jsc", )" + entries + "}"; }

}  // namespace

TEST_CASE("name, options and files come back") {
  const EmittedDesign design = read_design_json(
      with(
          R"("clock_mhz": 200, "part": "p", "tdata": "bytes", "files": {"rtl/a.sv": "00", "b.f": "01"})"),
      "d");
  CHECK(design.name == "jsc");
  CHECK(design.options.clock_mhz == 200);
  CHECK(design.options.part == "p");
  CHECK(design.options.tdata == "bytes");
  CHECK(design.files == std::vector<std::string>{"rtl/a.sv", "b.f"});
}

TEST_CASE("a damaged design.json is refused, also one that lists files outside of its folder") {
  const std::string options = R"("clock_mhz": 200, "part": "p", "tdata": "packed", )";
  for (const char* file : {"", ".", "..", "../x", "a/../../x", "/x", "rtl/"}) {
    const std::string text = with(options + R"("files": {")" + file + R"(": ""})");
    INFO(file);
    CHECK_THAT(test::message_of(mase::Fault::file, [&] { read_design_json(text, "d"); }),
               Catch::Contains("is damaged"));
  }
  for (const std::string& text :
       {with(R"("part": "p", "tdata": "packed")"), std::string("[]"), std::string("3"),
        with(R"("clock_mhz": "fast", "part": "p", "tdata": "packed")"),
        with(R"("clock_mhz": 200, "part": "p", "tdata": "none")")})
    CHECK_THAT(test::message_of(mase::Fault::file, [&] { read_design_json(text, "d"); }),
               Catch::Contains("is damaged"));
}
