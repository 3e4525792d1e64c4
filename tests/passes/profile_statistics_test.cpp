// SPDX-License-Identifier: Apache-2.0
// Statistics of activations stand in the metadata, whatever the batches.
#include <catch2/catch.hpp>

#include "ir/metadata.hpp"
#include "passes/float_runner.hpp"

namespace mase {
namespace {

constexpr const char* profile_options = R"(
by = "type"
target_weight_nodes = ["linear"]
target_activation_nodes = ["relu", "linear"]
num_samples = 3
profile_output_activation = true
[weight_statistics.range_min_max]
abs = true
[activation_statistics.range_min_max]
[activation_statistics.variance_online]
dims = "none"
)";

ir::Graph profiled(std::int64_t batch) {
  ir::Graph graph = test::two_layers({1, 0, 0, 0, 0, -2, 0, 0}, {0, 0.5f});
  passes::PassContext context = test::context_with_rows(
      Array::from(std::vector<float>{1, -2, 3, 4, 5, 6, -7, 8, 9, 10, 11, -12, 90, 90, 90, 90},
                  {4, 4}),
      batch);
  test::run_pass(graph, "profile_statistics", profile_options, context);
  return graph;
}

const Tree& stat(const ir::Graph& graph, const std::string& node, const std::string& part,
                 const std::string& name) {
  return graph.find_node(node)->meta.software.at(part).at(name).at("stat");
}

}  // namespace

TEST_CASE("statistics are written to the software metadata of the nodes") {
  const ir::Graph graph = profiled(2);
  const Tree& in = stat(graph, "act", "args", "data_in_0").at("range_min_max");
  CHECK(in.at("min").as_double() == -12);
  CHECK(in.at("max").as_double() == 11);
  CHECK(in.at("count").as_int() == 12);
  const Tree& rectified = stat(graph, "fc", "args", "data_in_0").at("range_min_max");
  CHECK(rectified.at("min").as_double() == 0);
  // Rows 1, 5, 9 of the first column; 0, 6, 10 of the second.
  const Tree& columns = stat(graph, "fc", "args", "data_in_0").at("variance_online");
  CHECK(columns.at("mean").as_list()[0].as_list()[0].as_double() == 5);
  CHECK(columns.at("variance").as_list()[0].as_list()[1].as_double() == Approx(152.0 / 9));
  CHECK(columns.at("count").as_int() == 3);
  const Tree& weight = stat(graph, "fc", "args", "weight").at("range_min_max");
  CHECK(weight.at("min").as_double() == 0);
  CHECK(weight.at("max").as_double() == 2);
  // -2 * 10 + 0.5 is the smallest result of the layer.
  CHECK(stat(graph, "fc", "results", "data_out_0").at("range_min_max").at("min").as_double() ==
        -19.5);
  CHECK(to_json(ir::metadata_tree(graph)).find("range_min_max") != std::string::npos);
}

TEST_CASE("batches of any size give the same statistics") {
  const ir::Graph whole = profiled(4);
  for (const std::int64_t batch : {1, 2, 3})
    for (const char* node : {"act", "fc"})
      CHECK(profiled(batch)
                .find_node(node)
                ->meta.software.at("args")
                .at("data_in_0")
                .at("stat")
                .at("range_min_max") == stat(whole, node, "args", "data_in_0").at("range_min_max"));
}

}  // namespace mase
