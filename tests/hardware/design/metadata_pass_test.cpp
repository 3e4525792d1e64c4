// SPDX-License-Identifier: Apache-2.0
// The pass add_hardware_metadata: what it records, and that the record stands for the same design.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/error.hpp"
#include "hardware/design/add_hardware_metadata.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/building/node_metadata.hpp"
#include "hardware/design/design_of.hpp"
#include "hardware/design/folding/fold_options.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/step_table.hpp"
#include "ir/text.hpp"
#include "passes/pass.hpp"

using namespace mase;
using namespace mase::design;

namespace {

/// fc1 (16 to 8, relu), fc2 (8 to 8), their sum, and a flatten without hardware.
ir::Graph residual_graph() {
  ir::Graph graph = ir::parse(R"(graph "net" {
  module fc1 : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc1.weight, bias=@fc1.bias]
  module relu : torch.nn.modules.activation.ReLU = aten::relu()
  module fc2 : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc2.weight, bias=@fc2.bias]
  tensor fc1.weight : float32[8, 16] parameter grad
  tensor fc1.bias : float32[8] parameter grad
  tensor fc2.weight : float32[8, 8] parameter grad
  tensor fc2.bias : float32[8] parameter grad
  %x : float32[2, 16] = placeholder x
  %fc1 : float32[2, 8] = call_module fc1 aten::linear(input=%x) {bias=integer(8, 6), data_in=integer(8, 4), weight=integer(6, 4)}
  %relu : float32[2, 8] = call_module relu aten::relu(self=%fc1) {data_in=integer(8, 4)}
  %fc2 : float32[2, 8] = call_module fc2 aten::linear(input=%relu) {bias=integer(8, 6), data_in=integer(8, 4), weight=integer(6, 4)}
  %add : float32[2, 8] = call_function _operator.add aten::add.Tensor(self=%fc2, other=%relu) {data_in=integer(8, 4)}
  %flatten : float32[2, 8] = call_function torch.flatten aten::flatten.using_ints(self=%add, start_dim=1)
  %output : float32[2, 8] = output output(value=%flatten)
}
)",
                              "test");
  int step = 0;
  for (auto& [path, tensor] : graph.tensors)
    for (float& value : tensor.value.mutable_span<float>())
      value = static_cast<float>(step++ % 13 - 6) / 16.0F;
  return graph;
}

passes::Result run(ir::Graph& graph, const Tree& options = Tree::dict()) {
  passes::PassContext context;
  return passes::describe<AddHardwareMetadata>().run(graph, options, context);
}

const Tree& record(const ir::Graph& graph, const char* node) {
  return graph.find_node(node)->meta.hardware;
}

Tree with_layer(const char* node, std::int64_t simd, std::int64_t pe) {
  Tree options = Tree::dict();
  options["layers"][node]["simd"] = simd;
  options["layers"][node]["pe"] = pe;
  options["packing"] = false;
  return options;
}

}  // namespace

TEST_CASE("every node gets the reference system's keys") {
  ir::Graph graph = residual_graph();
  run(graph, with_layer("fc1", 4, 2));
  for (ir::NodeId id : graph.order()) {
    const Tree& hardware = graph.node(id).meta.hardware;
    for (const char* key : {"is_implicit", "interface", "toolchain", "module", "device_id",
                            "dependence_files", "max_parallelism", "verilog_param", "fold"})
      CHECK(hardware.find(key));
    CHECK(hardware.at("toolchain").as_string() == "INTERNAL");
    CHECK(hardware.at("device_id").as_int() == -1);
  }
  for (const char* node : {"x", "relu", "flatten", "output"}) {
    CHECK(record(graph, node).at("is_implicit").as_bool());
    CHECK(record(graph, node).at("module").is_null());
  }
}

TEST_CASE("a linear layer's record has module, files and parameters") {
  ir::Graph graph = residual_graph();
  run(graph, with_layer("fc1", 4, 2));
  const Tree& fc1 = record(graph, "fc1");
  CHECK_FALSE(fc1.at("is_implicit").as_bool());
  CHECK(fc1.at("module").as_string() == "mase_linear");
  CHECK(fc1.at("dependence_files").as_list()[0].as_string() == "matrix/mase_linear.sv");
  CHECK(fc1.at("interface").at("weight").at("storage").as_string() == "BRAM");
  CHECK_FALSE(fc1.at("interface").at("bias").at("transpose").as_bool());
  const auto parameter = [&](const char* name) {
    return fc1.at("verilog_param").at(name).as_int();
  };
  CHECK(parameter("DATA_IN_0_PRECISION_0") == 8);
  CHECK(parameter("DATA_IN_0_PRECISION_1") == 4);
  CHECK(parameter("DATA_IN_0_TENSOR_SIZE_DIM_0") == 16);
  CHECK(parameter("DATA_IN_0_PARALLELISM_DIM_0") == 4);
  CHECK(parameter("WEIGHT_PRECISION_0") == 6);
  CHECK(parameter("WEIGHT_TENSOR_SIZE_DIM_0") == 16);
  CHECK(parameter("WEIGHT_TENSOR_SIZE_DIM_1") == 8);
  CHECK(parameter("WEIGHT_PARALLELISM_DIM_0") == 4);
  CHECK(parameter("WEIGHT_PARALLELISM_DIM_1") == 2);
  CHECK(parameter("BIAS_TENSOR_SIZE_DIM_0") == 8);
  CHECK(parameter("BIAS_TENSOR_SIZE_DIM_1") == 1);
  CHECK(parameter("DATA_OUT_0_TENSOR_SIZE_DIM_0") == 8);
  CHECK(parameter("DATA_OUT_0_PARALLELISM_DIM_0") == 2);
  CHECK((folding_of(graph).at("fc1") == Fold{4, 2}));
}

TEST_CASE("shared multipliers are recorded, and rebuilt from the record") {
  ir::Graph graph = residual_graph();
  Tree options = with_layer("fc1", 4, 2);
  options["packing"] = true;
  const passes::Result result = run(graph, options);
  const Fold fold = folding_of(graph).at("fc1");
  CHECK(fold.packing.outputs == 2);
  CHECK(fold_of(fold_tree(fold)) == fold);
  const Design design = design_of(graph);
  CHECK(design.folding.at("fc1") == fold);
  for (const Instance& instance : design.instances)
    if (instance.name == "fc1") CHECK(module_of<LinearModule>(instance).packs().outputs == 2);
  CHECK(result.tables.at(0).rows.at(0).at(2) == "4 x 2 packed 2");
  // Records of before have no packing; damaged ones are refused.
  Tree record = fold_tree({4, 2});
  CHECK_FALSE(record.find("packing"));
  record["packing"]["outputs"] = 2;
  CHECK_THROWS_AS(fold_of(record), Error);
  record["packing"]["pitch"] = 0;
  CHECK_THROWS_AS(fold_of(record), Error);
}

TEST_CASE(
    "a layer whose channels have fraction bits of their own is set and recorded by its name") {
  ir::Graph graph = residual_graph();
  graph.node(graph.find_node("fc1")->id)
      .formats.insert_or_assign(
          "weight", formats::parse_format("integer(6, 4, granularity=channel, "
                                          "channel_frac_width=[4, 5, 6, 4, 5, 6, 4, 5])"));
  run(graph, with_layer("fc1", 4, 2));
  const Tree& fc1 = record(graph, "fc1");
  CHECK(fc1.at("module").as_string() == "mase_linear");
  CHECK(fc1.at("verilog_param").at("WEIGHT_PARALLELISM_DIM_0").as_int() == 4);
  // The result, with relu, and not what is shifted.
  CHECK(fc1.at("verilog_param").at("DATA_OUT_0_PRECISION_0").as_int() == 7);
  CHECK((folding_of(graph).at("fc1") == Fold{4, 2}));
  CHECK(folding_of(graph).contains("fc1_shift"));
}

TEST_CASE("a function in pieces is recorded with its largest error") {
  ir::Graph graph = ir::parse(R"(graph "net" {
  %x : float32[2, 4] = placeholder x
  %gelu : float32[2, 4] = call_function torch.nn.functional.gelu aten::gelu(self=%x) {data_in=integer(16, 11), data_out=integer(8, 4)}
  %output : float32[2, 4] = output output(value=%gelu)
}
)",
                              "test");
  const passes::Result result = run(graph);
  const Tree& gelu = record(graph, "gelu");
  CHECK(gelu.at("module").as_string() == "mase_piecewise");
  const double error = gelu.at("verilog_param").at("LARGEST_ERROR_LSB").as_double();
  CHECK(error > 0);
  CHECK(error <= 1);
  const std::int64_t segments = gelu.at("verilog_param").at("SEGMENTS").as_int();
  CHECK(std::ssize(design_of(graph).memories.at(0).words) == segments);
  CHECK(std::ranges::any_of(result.text, [&](const std::string& line) {
    return line.starts_with("gelu: gelu in " + std::to_string(segments) + " straight pieces");
  }));
}

TEST_CASE("a layer behind flatten has the sizes that it reads") {
  ir::Graph graph = ir::parse(R"(graph "net" {
  module conv : torch.nn.modules.conv.Conv2d = aten::conv2d() [weight=@conv.weight]
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor conv.weight : float32[4, 2, 3, 3] parameter grad
  tensor fc.weight : float32[5, 36] parameter grad
  %x : float32[2, 2, 5, 5] = placeholder x
  %conv : float32[2, 4, 3, 3] = call_module conv aten::conv2d(input=%x) {data_in=integer(8, 4), weight=integer(6, 4)}
  %flatten : float32[2, 36] = call_function torch.flatten aten::flatten.using_ints(self=%conv, start_dim=1)
  %fc : float32[2, 5] = call_module fc aten::linear(input=%flatten) {data_in=integer(8, 4), weight=integer(6, 4)}
  %output : float32[2, 5] = output output(value=%fc)
}
)",
                              "test");
  for (auto& [path, tensor] : graph.tensors)
    for (float& value : tensor.value.mutable_span<float>()) value = 0.25F;
  run(graph);
  const auto size = [&](const char* node, const std::string& operand, int dim) {
    const Tree* found = record(graph, node)
                            .at("verilog_param")
                            .find(operand + "_TENSOR_SIZE_DIM_" + std::to_string(dim));
    return found ? found->as_int() : -1;
  };
  CHECK(size("fc", "DATA_IN_0", 0) == 36);
  CHECK(size("fc", "DATA_IN_0", 1) == -1);
  CHECK(size("fc", "DATA_OUT_0", 0) == 5);
  // Channels last: 3 x 3 pixels of 4 channels, of 5 x 5 pixels of 2.
  CHECK(size("conv", "DATA_IN_0", 0) == 2);
  CHECK(size("conv", "DATA_IN_0", 2) == 5);
  CHECK(size("conv", "DATA_OUT_0", 0) == 4);
  CHECK(size("conv", "DATA_OUT_0", 1) == 3);
}

TEST_CASE("a graph without metadata has no folds, and one with it gives back the same design") {
  ir::Graph graph = residual_graph();
  CHECK(folding_of(graph).empty());
  Tree options = Tree::dict();
  options["initiation_interval"] = 16;
  const passes::Result result = run(graph, options);
  const Design design = design_of(graph);
  CHECK(design.timing.interval <= 16);
  CHECK(result.info.at("interval").as_int() == design.timing.interval);
  CHECK(result.info.at("last").as_int() == design.timing.last);
  // Text and back: the metadata is all that is needed.
  ir::Graph again = ir::parse(ir::print(graph), "again");
  for (auto& [path, tensor] : again.tensors) tensor.value = graph.tensors.at(path).value;
  const Design same = design_of(again);
  REQUIRE(same.instances.size() == design.instances.size());
  for (std::size_t i = 0; i < design.instances.size(); ++i) {
    CHECK(same.instances[i].name == design.instances[i].name);
    CHECK(same.instances[i].module->parameters() == design.instances[i].module->parameters());
  }
  const Design rebuilt = build(design.program, design.folding);
  CHECK(fifo_depths(rebuilt) == fifo_depths(design));
}

TEST_CASE("without a target a slow layer that costs next to nothing does not hold the design up") {
  // 96 elements at the port; 4096 products, of which 64 lanes take 64 cycles and 32 lanes 128.
  ir::Graph graph = ir::parse(R"(graph "net" {
  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]
  tensor fc.weight : float32[64, 64] parameter grad
  %x : float32[2, 96] = placeholder x {data_out=integer(8, 4)}
  %cut : float32[2, 64] = call_function torch.slice aten::slice.Tensor(self=%x, dim=1, start=0, end=64, step=1)
  %fc : float32[2, 64] = call_module fc aten::linear(input=%cut) {data_in=integer(8, 4), weight=integer(6, 4)}
  %output : float32[2, 64] = output output(value=%fc)
}
)",
                              "test");
  int step = 0;
  for (float& value : graph.tensors.at("fc.weight").value.mutable_span<float>())
    value = static_cast<float>(step++ % 29 - 14) / 8.0F;
  const passes::Result free = run(graph);
  Tree port = Tree::dict();
  port["initiation_interval"] = 96;
  const passes::Result slow = run(graph, port);
  CHECK(slow.info.at("interval").as_int() == 96);
  CHECK(free.info.at("interval").as_int() == 64);
  const auto area_of = [](const passes::Result& result) {
    const auto total = [&](const char* key) { return result.info.at("total").at(key).as_double(); };
    return area({.lut = total("lut"), .dsp = total("dsp"), .bram = total("bram")});
  };
  CHECK(area_of(free) < 1.06 * area_of(slow));
}

TEST_CASE("keep takes the folds that a graph has, and stands alone") {
  Tree keep = Tree::dict(), target = Tree::dict();
  keep["keep"] = true;
  target["multiplier"] = "fabric";
  target["layers"]["fc1"]["simd"] = 4;
  ir::Graph graph = residual_graph(), fresh = residual_graph(), plain = residual_graph();
  const passes::Result chosen = run(graph, target);
  const Folding folds = folding_of(graph);
  CHECK(run(graph, keep).info.at("total") == chosen.info.at("total"));
  CHECK(folding_of(graph) == folds);
  run(fresh, keep);
  run(plain);
  CHECK(folding_of(fresh) == folding_of(plain));
  CHECK(folding_of(fresh) != folds);
  Tree same = keep;  // says nothing of folds
  same["clock_mhz"] = 150.0;
  same["family"] = "ecp5";
  same["device_id"] = 0;
  same["dsp_block"] = "mult18x18d";
  same["multiplier"] = "auto";
  CHECK_FALSE(AddHardwareMetadata::has_target(same));
  run(graph, same);
  CHECK(folding_of(graph) == folds);
  for (const char* key : {"layers", "initiation_interval"}) {
    Tree both = keep;
    both[key] = key == std::string("layers") ? target.at("layers") : Tree(16);
    CHECK(AddHardwareMetadata::has_target(both));
    CHECK_THROWS_WITH(run(graph, both), Catch::Contains("keep stands alone"));
  }
}

TEST_CASE(
    "the design is built once for the passes that follow, and equals one made from the graph") {
  ir::Graph graph = residual_graph();
  passes::PassContext context;
  passes::describe<AddHardwareMetadata>().run(graph, Tree::dict(), context);
  const Design& kept = design_of(graph, context);
  CHECK(&kept == context.derived.find<Design>());
  CHECK(&kept == &design_of(graph, context));
  const Design made = design_of(graph);
  CHECK(kept.timing.interval == made.timing.interval);
  CHECK(kept.timing.frames == made.timing.frames);
  CHECK(kept.timing.frames > 0);
  REQUIRE(kept.instances.size() == made.instances.size());
  for (std::size_t i = 0; i < made.instances.size(); ++i)
    CHECK(kept.instances[i].name == made.instances[i].name);
  context.derived.clear();
  CHECK(design_of(graph, context).instances.size() == made.instances.size());
}

TEST_CASE("the table has a row per step, the plumbing and the total") {
  ir::Graph graph = residual_graph();
  const passes::Result result = run(graph);
  REQUIRE(result.tables.size() == 1);
  const auto& rows = result.tables[0].rows;
  CHECK(rows[rows.size() - 2][0] == "between layers");
  CHECK(rows.back()[0] == "total");
  CHECK(rows.size() == design_of(graph).program->steps.size() + 2);
}

TEST_CASE("wrong options are refused") {
  ir::Graph graph = residual_graph();
  const auto message = [&](const Tree& options) -> std::string {
    try {
      run(graph, options);
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::config);
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(message(with_layer("fc3", 1, 1)), Catch::Contains("'fc3'") && Catch::Contains("fc1"));
  CHECK_THAT(message(with_layer("fc1", 3, 1)), Catch::Contains("use 1, 2, 4, 8, 16"));
  CHECK_THAT(message(with_layer("fc1", 0, 1)), Catch::Contains("simd"));
  Tree unknown = Tree::dict();
  unknown["interval"] = 3;
  CHECK_THAT(message(unknown), Catch::Contains("unknown option 'interval'"));
  Tree layer = Tree::dict();
  layer["layers"]["fc1"]["lanes"] = 3;
  CHECK_THAT(message(layer), Catch::Contains("unknown option 'lanes'"));
  Tree list = Tree::dict();
  list["layers"] = 3;
  CHECK_THAT(message(list), Catch::Contains("layers"));
}

TEST_CASE("the clock is the slowest layer's, and frames follow from it") {
  ir::Graph graph = residual_graph();
  const passes::Result result = run(graph, with_layer("fc1", 4, 2));
  const double fmax = result.info.at("fmax").as_double();
  double slowest = 1e9;
  for (const Tree& layer : result.info.at("layers").as_list())
    if (const double mhz = layer.at("mhz").as_double(); mhz > 0) slowest = std::min(slowest, mhz);
  CHECK(fmax == Approx(slowest));
  const auto interval = static_cast<double>(result.info.at("interval").as_int());
  CHECK(result.info.at("throughput").as_double() == Approx(fmax * 1e6 / interval));
  CHECK(result.info.at("family").as_string() == "ecp5");
  const Tree::List& range = result.info.at("fmax_range").as_list();
  CHECK(range.at(0).as_double() * range.at(1).as_double() == Approx(fmax * fmax));
  CHECK(range.at(0).as_double() < fmax);

  Tree options = with_layer("fc1", 4, 2);
  options["family"] = "xc7";
  const passes::Result other = run(graph, options);
  CHECK(other.info.at("family").as_string() == "xc7");
  CHECK(other.info.at("fmax").as_double() > fmax);  // no wires
  CHECK_FALSE(other.info.find("fmax_range"));
}

TEST_CASE("the efficiency of a layer is its products by those that its multipliers could do") {
  ir::Graph graph = residual_graph();
  Tree options = with_layer("fc1", 4, 2);
  options["layers"]["fc2"]["simd"] = 2;
  options["layers"]["fc2"]["pe"] = 1;
  const passes::Result result = run(graph, options);
  const double interval = static_cast<double>(result.info.at("interval").as_int());
  std::map<std::string, double> found;
  for (const Tree& layer : result.info.at("layers").as_list())
    if (const Tree* efficiency = layer.find("efficiency"))
      found[layer.at("layer").as_string()] = efficiency->as_double();
  // fc1: 16 x 8 products in 4 x 2 multipliers; the addition has none.
  CHECK(found.size() == 2);
  CHECK(found.at("fc1") == Approx(16 * 8 / (4 * 2 * interval)));
  // The slower one of two layers is the slowest quarter: fc2, 8 x 8 products in 2 x 1 multipliers.
  CHECK(found.at("fc2") == Approx(8 * 8 / (2 * interval)));
  CHECK(result.info.at("efficiency").as_double() == found.at("fc2"));
}

namespace {

Tree on_devices(const char* json) { return parse_json(json, "options"); }

std::int64_t device_of(const ir::Graph& graph, const char* node) {
  return record(graph, node).at("device_id").as_int();
}

}  // namespace

TEST_CASE("nodes are on the devices that the first matching name says, and stay there") {
  ir::Graph graph = residual_graph();
  const passes::Result result =
      run(graph, on_devices(R"({"devices": {"fc1": 2, "fc*": 5}, "link_latency": 9})"));
  // relu is computed with fc1; the sum is where its first summand is, and what follows with it.
  for (const char* node : {"x", "fc1", "relu"}) CHECK(device_of(graph, node) == 2);
  for (const char* node : {"fc2", "add", "flatten", "output"}) CHECK(device_of(graph, node) == 5);
  CHECK(result.info.at("link_latency").as_int() == 9);
  const Tree::List& devices = result.info.at("devices").as_list();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].at("links").as_list().size() == 1);
  CHECK(devices[1].at("links").as_list().empty());
  for (const char* resource : {"lut", "ff", "dsp", "bram"})
    CHECK(devices[0].at(resource).as_double() + devices[1].at(resource).as_double() ==
          Approx(result.info.at("total").at(resource).as_double()));

  const Design stored = design_of(graph);
  CHECK(stored.devices() == std::vector{2, 5});
  CHECK(stored.timing.last == result.info.at("last").as_int());
  const passes::Result again = run(graph, on_devices(R"({"keep": true, "link_latency": 9})"));
  CHECK(again.info.at("last") == result.info.at("last"));
  CHECK(design_of(graph).devices() == std::vector{2, 5});
  run(graph, on_devices(R"({"keep": true, "device_id": 3})"));
  CHECK(device_of(graph, "add") == 3);
  CHECK(design_of(graph).devices() == std::vector{3});
}

TEST_CASE("a number of devices cuts the layers anew") {
  ir::Graph graph = residual_graph();
  for (const int devices : {3, 2}) {
    Tree options = Tree::dict();
    options["devices"] = devices;
    run(graph, options);
    CHECK(device_of(graph, "fc1") == 0);
    CHECK(device_of(graph, "add") == devices - 1);
    CHECK(design_of(graph).devices().size() == static_cast<std::size_t>(devices));
  }
}

TEST_CASE("devices that cannot be had are refused with what would do") {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"devices": {"relu": 1}})",
       "'relu' has no hardware of its own; it is computed with 'fc1', so give the device"},
      {R"({"devices": {"fc3": 1}})", "the graph has no node 'fc3'"},
      {R"({"devices": {"conv*": 1}})", "no node of the graph matches 'conv*'"},
      {R"({"devices": {"fc1": -1}})", "fc1"},
      {R"({"devices": "two"})", "devices"},
      {R"({"devices": 4})", "can be cut into 3 parts at most"},
      {R"({"devices": 2, "device_id": 1})", "device_id is for all nodes"},
      {R"({"devices": 2, "reloadable": true})", "cannot be replaced; leave out reloadable"}};
  for (const auto& [options, message] : wrong) {
    ir::Graph graph = residual_graph();
    INFO(options);
    CHECK_THROWS_WITH(run(graph, on_devices(options)), Catch::Contains(message));
    CHECK(ir::print(graph) == ir::print(residual_graph()));
  }
}
