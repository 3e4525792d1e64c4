// SPDX-License-Identifier: Apache-2.0
// Measures how long the metric of hardware of a search takes for a configuration of lenet: formats
// by layer and port are drawn at random, lowered, folded and priced. Goal: 10 ms each on one
// thread.
//
// Usage: bench_hardware_cost [configurations] [initiation_interval]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/design/design.hpp"
#include "hardware/integer/program.hpp"
#include "lenet.hpp"
#include "passes/pass.hpp"

namespace {

using namespace mase;
using Formats = std::vector<formats::Format>;

Formats parsed(const std::vector<const char*>& texts) {
  Formats formats;
  for (const char* text : texts) formats.push_back(formats::parse_format(text));
  return formats;
}

const Formats& of_data() {
  static const Formats formats = parsed({"integer(8, 4)", "integer(6, 3)", "integer(4, 2)",
                                         "fp8_e4m3", "fp6_e3m2", "fp6_e2m3", "fp4_e2m1"});
  return formats;
}

const Formats& of_weights() {
  static const Formats formats =
      parsed({"integer(8, 7)", "integer(6, 5)", "integer(4, 3)", "fp8_e4m3", "fp6_e2m3", "fp4_e2m1",
              "ternary(threshold=0.05)", "binary"});
  return formats;
}

const formats::Format& drawn(const Formats& formats, Random& random) {
  return formats[static_cast<std::size_t>(random.uniform() * static_cast<double>(formats.size()))];
}

void quantize(ir::Graph& graph, Random& random) {
  static const formats::Format bias = formats::parse_format("integer(12, 8)");
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = graph.node(id);
    if (node.op != "aten::conv2d" && node.op != "aten::linear") continue;
    node.formats.insert_or_assign("data_in", drawn(of_data(), random));
    node.formats.insert_or_assign("weight", drawn(of_weights(), random));
    node.formats.insert_or_assign("bias", bias);
  }
}

/// The processor time of this program, in seconds.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) try {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (count < 1) config_error("usage: bench_hardware_cost [configurations] [initiation_interval]");
  Tree options = Tree::dict();
  if (argc > 2) options["initiation_interval"] = std::atoi(argv[2]);
  const ir::Graph lenet = make_lenet();
  Random random(1);
  double lowering = 0, luts = 0;
  const double begin = now();
  for (int i = 0; i < count; ++i) {
    ir::Graph graph = lenet;
    quantize(graph, random);
    const double start = now();
    integer::lower(graph);  // the pass does it once more: not counted below
    lowering += now() - start;
    passes::PassContext context;
    const auto result = design::AddHardwareMetadata::run(graph, options, context);
    luts += result.info.at("total").at("lut").as_double();
  }
  const double each = (now() - begin - lowering) / count, lower = lowering / count;
  std::printf("lenet, %d configurations: %.2f ms each, %.2f ms of it lowering (mean %.0f LUTs)\n",
              count, 1000 * each, 1000 * lower, luts / count);
  return each <= 0.010 ? 0 : 1;
} catch (const mase::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
