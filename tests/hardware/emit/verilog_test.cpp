// SPDX-License-Identifier: Apache-2.0
// The printer of SystemVerilog and its literals, against text written by hand.
#include <catch2/catch.hpp>
#include <limits>

#include "hardware/emit/text/verilog.hpp"

using namespace mase;
using namespace mase::emit::verilog;
using design::HexBits;
using design::Sized;

TEST_CASE("a module prints as a person would write it") {
  Module module;
  module.comment = "Adds nothing.\nTwice.";
  module.name = "nothing";
  module.ports = {{Direction::input, "clk", 1, true},
                  {Direction::input, "a", 8, false},
                  {Direction::output, "b", 1, false}};
  module.items = {
      Comment{"Between."},
      Net{"middle", 8, false},
      Net{"bit_only", 1, true},
      Assign{"middle", "a"},
      Instance{"part", "part_0", {{"W", "8"}, {"FILE", "\"x.mem\""}}, {{"in", "middle"}}},
      Instance{"other", "other_0", {}, {{"out", "b"}}}};
  CHECK(print(module) == R"(// Adds nothing.
// Twice.
module nothing (
    input logic clk,
    input logic [7:0] a,
    output logic [0:0] b
);
  // Between.
  logic [7:0] middle;
  logic bit_only;
  assign middle = a;

  part #(
      .W(8),
      .FILE("x.mem")
  ) part_0 (
      .in(middle)
  );

  other other_0 (
      .out(b)
  );
endmodule
)");
}

TEST_CASE("a module without ports has no empty list of them") {
  Module module;
  module.comment = "Closed.";
  module.name = "bench";
  module.items = {Net{"clk", 1, true}};
  CHECK(print(module) == "// Closed.\nmodule bench;\n  logic clk;\nendmodule\n");
}

TEST_CASE("nothing in a comment ends it") {
  Module module;
  module.name = "nothing";
  module.comment = "A\rendmodule\vB\fC\nD";
  CHECK(print(module).starts_with("// A endmodule B C\n// D\nmodule nothing"));
}

TEST_CASE("sized literals hold every value of their width") {
  CHECK(literal(Sized{3, 8, true}) == "8'sd3");
  CHECK(literal(Sized{-3, 8, true}) == "-8'sd3");
  CHECK(literal(Sized{-128, 8, true}) == "8'sh80");
  CHECK(literal(Sized{127, 8, true}) == "8'sd127");
  CHECK(literal(Sized{-1, 1, true}) == "1'sh1");
  CHECK(literal(Sized{7, 12, false}) == "12'd7");
  CHECK(literal(Sized{7, 200, false}) == "200'd7");
  CHECK(literal(Sized{std::numeric_limits<std::int64_t>::max(), 64, true}) ==
        "64'sd9223372036854775807");
  CHECK(literal(Sized{std::numeric_limits<std::int64_t>::min(), 64, true}) ==
        "64'sh8000000000000000");
  CHECK(literal(Sized{std::numeric_limits<std::int64_t>::min() + 1, 64, true}) ==
        "-64'sd9223372036854775807");
  CHECK_THROWS(literal(Sized{128, 8, true}));
  CHECK_THROWS(literal(Sized{-1, 8, false}));
}

TEST_CASE("parameters print by their kind") {
  CHECK(literal(design::ParameterValue{std::int64_t{-5}}) == "-5");
  CHECK(literal(design::ParameterValue{std::int64_t{1} << 40}) == "64'sd1099511627776");
  CHECK(literal(design::ParameterValue{HexBits{"0ff", 12}}) == "12'h0ff");
  CHECK(literal(design::ParameterValue{std::string("a\"b\\c")}) == R"("a\"b\\c")");
}

TEST_CASE("concatenations put the first part into the low bits") {
  CHECK(concatenation({"a"}) == "a");
  CHECK(concatenation({"a", "b", "c"}) == "{c, b, a}");
}
