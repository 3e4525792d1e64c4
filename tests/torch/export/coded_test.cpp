// SPDX-License-Identifier: Apache-2.0
// Tests of checkpoints that hold codes alone: every format decodes in TorchScript to the bits that
// the executor reads, here and after loading; what would lose something stays in floats.
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <set>
#include "torch/catch.hpp"

#include "base/error.hpp"
#include "checkpoint/archive.hpp"
#include "checkpoint/coded_tensors.hpp"
#include "support/format_samples.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::test;
using namespace small_graphs;

namespace {

const std::vector<Shape> shapes{{},     {1},    {64},       {7},          {4, 40},
                                {3, 5}, {5, 1}, {3, 6, 20}, {2, 3, 5, 6}, {1, 4, 3, 3}};

/// -w through a format.
ir::Graph negated(const formats::Format& format, const Array& weight) {
  Maker make("Negation");
  make.graph.set_tensor("w", {weight, true, true});
  const ir::NodeId w = make.attribute("w");
  const ir::NodeId y =
      make.call("neg", "aten::neg", {{"self", ir::NodeRef{w}}}, floats(weight.shape()));
  make.graph.node(y).formats.emplace("data_in", format);
  return make.finish(ir::NodeRef{y});
}

Array quantized(const formats::Format& format, const Array& weight) {
  Array out(DType::float32, weight.shape());
  format.quantize(weight.span<float>(), out.mutable_span<float>(), weight.shape());
  return out;
}

bool is_coded(const ir::Graph& graph, const std::string& path) {
  return bool(graph.tensors.at(path).coded);
}

bool takes(const formats::Format& format, const Shape& shape) {
  try {
    format.check(shape);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// x + parts of [12, 4], cut into 6, 4 and 2 rows, each of which is read through a format.
ir::Graph sum_of_parts(const std::vector<std::string>& texts) {
  Maker make("Parts");
  Array weight = normal({12, 4}, 3);
  for (std::size_t i = 0; i < 48; ++i)  // magnitudes grow with the rows
    weight.mutable_span<float>()[i] *= static_cast<float>(1 << (i / 4));
  make.graph.set_tensor("w", {weight, true, true});
  ir::NodeId sum = make.input("x", {2, 4});
  const ir::NodeId w = make.attribute("w");
  const Shape sizes{6, 4, 2};
  ir::ValueInfo list;
  list.kind = ir::ValueInfo::Kind::list;
  for (const std::int64_t rows : sizes) list.elements.push_back(floats({rows, 4}));
  const ir::NodeId cut =
      make.call("split", "aten::split_with_sizes",
                {{"self", ir::NodeRef{w}}, {"split_sizes", ir::Value::list({6, 4, 2})}}, list);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ir::NodeId part =
        make.call("part", "mase::getitem",
                  {{"value", ir::NodeRef{cut}}, {"index", static_cast<std::int64_t>(i)}},
                  floats({sizes[i], 4}));
    const ir::NodeId total =
        make.call("total", "aten::neg", {{"self", ir::NodeRef{part}}}, floats({sizes[i], 4}));
    if (!texts[i].empty())
      make.graph.node(total).formats.emplace("data_in", formats::parse_format(texts[i]));
    const ir::NodeId row = make.call("row", "mase::getitem",
                                     {{"value", ir::NodeRef{total}}, {"index", 1}}, floats({4}));
    sum = make.call("add", "aten::add.Tensor",
                    {{"self", ir::NodeRef{sum}}, {"other", ir::NodeRef{row}}}, floats({2, 4}));
  }
  return make.finish(ir::NodeRef{sum});
}

/// The checkpoint of a graph with codes alone, read again.
ir::Graph stored_and_read(const ir::Graph& coded, const std::string& path) {
  libtorch::export_torchscript(coded, path, checkpoint::extra_files(coded, Tree::dict()));
  auto contents = checkpoint::read_contents(path);
  REQUIRE(contents);
  checkpoint::load_tensors(contents->archive, contents->graph);
  return std::move(contents->graph);
}

/// Whether the tensor is coded; if so, its bits everywhere are checked.
bool check_weight(const formats::Format& format, const Array& weight) {
  INFO(shape_text(weight.shape()));
  const ir::Graph graph = negated(format, weight);
  const ir::Graph coded = checkpoint::with_codes_alone(graph);
  if (!is_coded(coded, "w")) return false;
  Folder folder;
  const ir::Graph read = stored_and_read(coded, folder / "m.pt");
  const ir::Results expected = executed(graph, {});
  CHECK(same(called(folder / "m.pt", {}), expected));
  CHECK(same(executed(read, {}), expected));
  checkpoint::check_codes(folder / "m.pt", read);
  const ir::Graph again = checkpoint::with_codes_alone(read);
  REQUIRE(is_coded(again, "w"));
  CHECK(again.tensors.at("w").coded->encoded.codes == coded.tensors.at("w").coded->encoded.codes);
  CHECK(state_names(torch::jit::load(folder / "m.pt")).front() == "w_codes");
  return true;
}

}  // namespace

TEST_CASE("codes alone of a format that rounds by chance are those that a checkpoint runs with",
          "[export]") {
  for (const char* text :
       {"integer(6, 4, rounding=stochastic, seed=3)", "mxint8(rounding=stochastic)"}) {
    INFO(text);
    CHECK(check_weight(formats::parse_format(text), normal({4, 40}, 5)));
  }
}

TEST_CASE("codes alone give the bits of every format, in TorchScript and read again", "[export]") {
  std::set<std::string> coded, all;
  std::uint64_t seed = 1;
  for (const std::string& text : format_samples()) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    all.emplace(format.name());
    for (const Shape& shape : shapes) {
      if (!takes(format, shape)) continue;
      if (check_weight(format, normal(shape, ++seed))) coded.emplace(format.name());
      check_weight(format, adversarial(shape, ++seed, false));
    }
  }
  coded.insert("nvfp4");  // a second pass moves many of its tensors
  CHECK(coded == all);
}

TEST_CASE("a layer's weights are its codes, and its other tensors stay", "[export]") {
  ir::Graph graph = residual();
  ir::Node& conv = graph.node(graph.find_node("conv")->id);
  conv.formats.emplace("weight", formats::parse_format("integer(4, 2)"));
  const ir::Graph coded = checkpoint::with_codes_alone(graph);
  Folder folder;
  const ir::Graph read = stored_and_read(coded, folder / "m.pt");
  CHECK(same(called(folder / "m.pt", inputs_of(graph)), executed(graph, inputs_of(graph))));
  const auto module = torch::jit::load(folder / "m.pt");
  const std::vector<std::string> names = state_names(module);
  CHECK(std::set<std::string>(names.begin(), names.end()) ==
        std::set<std::string>{"conv.weight_codes", "bn.weight", "bn.bias", "bn.running_mean",
                              "bn.running_var", "bn.num_batches_tracked"});
  // 81 codes of 4 bits.
  CHECK(module.attr("conv").toModule().attr("weight_codes").toTensor().numel() == 41);
}

TEST_CASE("tensors with several readers are coded where all read the same", "[export]") {
  ir::Graph graph = shared_layer();
  const formats::Format eight = formats::parse_format("integer(8, 6)");
  std::vector<ir::NodeId> calls;
  for (const ir::NodeId id : graph.order())
    if (graph.node(id).target == "fc") calls.push_back(id);
  REQUIRE(calls.size() > 1);
  graph.node(calls.front()).formats.emplace("weight", eight);
  CHECK_FALSE(is_coded(checkpoint::with_codes_alone(graph), "fc.weight"));
  for (const ir::NodeId id : calls) graph.node(id).formats.emplace("weight", eight);
  CHECK(is_coded(checkpoint::with_codes_alone(graph), "fc.weight"));
  graph.node(calls.back()).formats.at("weight") = formats::parse_format("integer(8, 5)");
  CHECK_FALSE(is_coded(checkpoint::with_codes_alone(graph), "fc.weight"));
}

TEST_CASE("a tensor that is read in parts is coded where the parts' codes are its own",
          "[export]") {
  const auto coded = [](const std::string& a, const std::string& b, const std::string& c) {
    const ir::Graph graph = sum_of_parts({a, b, c});
    const ir::Graph made = checkpoint::with_codes_alone(graph);
    if (!is_coded(made, "w")) return false;
    Folder folder;
    const ir::Graph read = stored_and_read(made, folder / "m.pt");
    const std::vector<Array> inputs = inputs_of(graph);
    CHECK(same(called(folder / "m.pt", inputs), executed(graph, inputs)));
    CHECK(same(executed(read, inputs), executed(graph, inputs)));
    return true;
  };
  for (const std::string format : {"integer(8, 5)", "scale_integer(8)", "fp8_e4m3", "mxint8",
                                   "block_fp(8, 8, block_size=[2, 4])"}) {
    INFO(format);
    CHECK(coded(format, format, format));
    CHECK_FALSE(coded(format, format, ""));
    CHECK_FALSE(coded(format, format, "integer(8, 6)"));
  }
  // Blocks of five rows cross the parts.
  const std::string crossing = "block_fp(8, 8, block_size=[5, 4], skip_first_dim=false)";
  CHECK_FALSE(coded(crossing, crossing, crossing));
}

TEST_CASE("what codes cannot say stays in floats", "[export]") {
  Array nan = normal({4, 4}, 1);
  nan.mutable_span<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  const auto eight = formats::parse_format("integer(8, 6)");
  CHECK_FALSE(is_coded(checkpoint::with_codes_alone(negated(eight, nan)), "w"));
  CHECK(is_coded(checkpoint::with_codes_alone(negated(eight, normal({4, 4}, 1))), "w"));
  // A second pass of nvfp4 finds another scale for some tensors, and moves all of their values.
  const auto nvfp4 = formats::parse_format("nvfp4");
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const Array weight = normal({4, 48}, seed);
    const Array once = quantized(nvfp4, weight);
    const bool moves = !quantized(nvfp4, once).same_bits(once);
    moved += moves ? 1 : 0;
    CHECK(is_coded(checkpoint::with_codes_alone(negated(nvfp4, weight)), "w") != moves);
  }
  CHECK(moved > 0);
}

TEST_CASE("names of codes keep clear of other tensors", "[export]") {
  ir::Graph graph = negated(formats::parse_format("integer(8, 6)"), normal({3, 4}, 1));
  graph.set_tensor("w_codes", {normal({2}, 2), false, false});
  Folder folder;
  const ir::Graph read = stored_and_read(checkpoint::with_codes_alone(graph), folder / "m.pt");
  CHECK(same(executed(read, {}), executed(graph, {})));
  CHECK(read.tensors.at("w_codes").value.same_bits(graph.tensors.at("w_codes").value));
}

TEST_CASE("codes of another length are refused by name", "[export]") {
  ir::Graph coded = checkpoint::with_codes_alone(
      negated(formats::parse_format("integer(8, 6)"), normal({3, 4}, 1)));
  ir::CodedTensor shorter = *coded.tensors.at("w").coded;
  shorter.encoded.codes = formats::pack_codes(std::vector<std::uint32_t>(5), 8);
  coded.tensors.at("w").coded = std::make_shared<ir::CodedTensor>(shorter);
  Folder folder;
  try {
    stored_and_read(coded, folder / "m.pt");
    FAIL("read");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::file);
    CHECK_THAT(error.what(), Catch::Contains("w_codes"));
  }
}
