// SPDX-License-Identifier: Apache-2.0
// Names of instances and streams.
#include <catch2/catch.hpp>

#include "hardware/design/names.hpp"

using namespace mase::design;

TEST_CASE("keywords of SystemVerilog are no names") {
  CHECK(legal_identifier("input") == "input_");
  CHECK(legal_identifier("always_ff") == "always_ff_");
  CHECK(legal_identifier("with") == "with_");
  CHECK(legal_identifier("fc1") == "fc1");
  CHECK(legal_identifier("layer.0/x") == "layer_0_x");
  CHECK(legal_identifier("0conv") == "_0conv");
  CHECK(legal_identifier("") == "_");
  CHECK(is_reserved("xor"));
  CHECK_FALSE(is_reserved("xo"));
  CHECK_FALSE(is_reserved(""));
}

TEST_CASE("colliding names get numbers") {
  Names names;
  CHECK(names.instance("add") == "add");
  CHECK(names.instance("add") == "add_1");
  CHECK(names.instance("clk") == "clk_1");
  CHECK(names.instance("reg") == "reg_");
  CHECK(names.instance("reg_") == "reg__1");
}

TEST_CASE("streams and instances share one scope") {
  Names names;
  CHECK(names.instance("x_valid") == "x_valid");
  CHECK(names.stream("x") == "x_1");  // its signal x_valid would collide
  CHECK(names.stream("y") == "y");
  CHECK(names.instance("y") == "y");  // y itself is no signal
  CHECK(names.instance("y_data") == "y_data_1");
  CHECK(names.stream("y") == "y_1");
}
