// SPDX-License-Identifier: Apache-2.0
// The summary tells what saturates and how many bits an element takes.
#include <catch2/catch.hpp>

#include "passes/float_runner.hpp"

namespace mase {

TEST_CASE("saturation and bits are told per layer and port") {
  // 2 and -3 lie beyond integer(4, 3), whose range is -1 .. 0.875; of the inputs 100 lies beyond
  // integer(6, 1), -16 .. 15.5; what the ReLU made 0 does not.
  ir::Graph graph = test::two_layers({0.5f, 2, 0, 0, 0, -3, -1, 0.875f}, {0, 0});
  passes::PassContext context = test::context_with_rows(Array(DType::float32, {1, 4}), 1);
  context.probe = {Array::from(std::vector<float>{1, 100, -100, 15.5f}, {1, 4})};
  context.probe_is_data = true;
  test::run_pass(graph, "quantize",
                 "[linear.config]\nname = \"integer\"\ndata_in_width = 6\ndata_in_frac_width = 1\n"
                 "weight_width = 4\nweight_frac_width = 3\n",
                 context);
  const passes::Result result = test::run_pass(graph, "summarize_quantization", "", context);
  const Tree& saturation = result.info.at("saturation").at("fc");
  CHECK(saturation.at("weight").as_double() == 0.25);
  CHECK(saturation.at("data_in").as_double() == 0.25);
  CHECK(saturation.find("bias") == nullptr);
  const Tree& bits = result.info.at("bits").at("fc");
  CHECK(bits.at("weight").as_double() == 4);
  CHECK(bits.at("data_in").as_double() == 6);
  CHECK(result.info.at("sqnr_db").at("fc").find("data_out") != nullptr);
}

}  // namespace mase
