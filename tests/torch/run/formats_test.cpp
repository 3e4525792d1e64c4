// SPDX-License-Identifier: Apache-2.0
// Every format in TorchScript: the text that a checkpoint holds computes the kernels' bits, for any
// rank and sizes, and in every op.
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "checkpoint/coded_tensors.hpp"
#include "ir/op_table.hpp"
#include "support/format_samples.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/fixtures.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// -quantize(x), for inputs of this rank.
ir::Graph negated(const formats::Format& format, std::size_t rank) {
  small_graphs::Maker maker("Negation");
  const ir::NodeId x = maker.input("x", Shape(rank, 2));
  const ir::NodeId y = maker.call("neg", "aten::neg", {{"self", ir::NodeRef{x}}},
                                  ir::ValueInfo::tensor(DType::float32, Shape(rank, 2)));
  maker.graph.node(y).formats.emplace("data_in", format);
  return maker.finish(ir::NodeRef{y});
}

/// Equal bits, any NaN like any other.
std::size_t differences(const Array& a, const Array& b) {
  if (a.shape() != b.shape()) return static_cast<std::size_t>(a.size() + b.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.span<float>().size(); ++i) {
    const float x = a.span<float>()[i], y = b.span<float>()[i];
    wrong += std::bit_cast<std::uint32_t>(x) != std::bit_cast<std::uint32_t>(y) &&
             !(std::isnan(x) && std::isnan(y));
  }
  return wrong;
}

Array expected(const formats::Format& format, const Array& input) {
  Array values(DType::float32, input.shape());
  format.quantize(input.span<float>(), values.mutable_span<float>(), input.shape());
  for (float& value : values.mutable_span<float>()) value = -value;
  return values;
}

const std::vector<std::vector<Shape>> shapes_by_rank{{},
                                                     {{64}, {7}, {33}},
                                                     {{4, 40}, {3, 5}, {1, 17}},
                                                     {{3, 6, 20}, {2, 1, 9}},
                                                     {{2, 3, 5, 6}, {1, 4, 3, 3}}};

void check_in_torchscript(const formats::Format& format, const std::vector<Shape>& shapes) {
  const formats::Format of_results = format.deterministic();
  Folder folder;
  libtorch::export_torchscript(negated(format, shapes.front().size()), folder / "model.pt", {});
  torch::jit::Module module = torch::jit::load(folder / "model.pt");
  std::uint64_t seed = 1;
  for (const bool specials : {false, true})
    for (int call = 0; call < 2; ++call)
      for (const Shape& shape : shapes) {
        INFO(shape_text(shape) << (specials ? " with NaN and infinities" : ""));
        const Array input = adversarial(shape, ++seed, specials);
        const ir::Results results = called(module, {input});
        CHECK(differences(results.at(0).second, expected(of_results, input)) == 0);
      }
}

/// Every format that can round by chance, doing so.
std::vector<std::string> stochastic_formats() {
  std::vector<std::string> texts;
  for (const formats::FormatRow& row : formats::format_table())
    for (const FieldInfo& field : row.fields) {
      const bool tiles = row.name == "mxint_hardware";
      if (field.name == "rounding")
        texts.push_back(row.name + "(rounding=stochastic" + (tiles ? ", parallelism=[1])" : ")"));
      if (field.name == "stochastic") texts.push_back(row.name + "(stochastic=true)");
    }
  return texts;
}

/// `text` on every float port of every quantizable node.
ir::Graph with_format(const ir::Graph& graph, const formats::Format& format) {
  ir::Graph copy = graph;
  for (const ir::NodeId id : graph.order()) {
    ir::Node& node = copy.node(id);
    const ir::Classified op = ir::classify(graph, node);
    if (!op.row || !op.row->quantizable) continue;
    for (const ir::Port& port : ir::ports(graph, node)) node.formats.emplace(port.name, format);
  }
  return copy;
}

bool has_codes(const ir::Graph& graph) {
  return std::ranges::any_of(graph.tensors,
                             [](const auto& entry) { return bool(entry.second.coded); });
}

}  // namespace

TEST_CASE("the samples hold every format", "[formats]") {
  for (const std::string& name : formats::format_names()) {
    INFO(name);
    CHECK(std::ranges::any_of(format_samples(), [&](const std::string& text) {
      return formats::parse_format(text).name() == name;
    }));
  }
}

TEST_CASE("every format computes its bits in TorchScript, for any sizes", "[formats]") {
  for (const std::string& text : format_samples()) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    for (std::size_t rank = 1; rank < shapes_by_rank.size(); ++rank)
      check_in_torchscript(format, shapes_by_rank[rank]);
  }
}

TEST_CASE("fractions of channels compute their bits in TorchScript, large and small ones",
          "[formats]") {
  for (const char* name :
       {"integer(8, 0", "integer(8, 0, rounding=nearest_away", "integer(5, 0, rounding=floor",
        "integer(8, 0, profile=reference", "integer_floor(30, 0", "fixed(6, 0, is_signed=false"}) {
    const formats::Format format = formats::parse_format(
        std::string(name) +
        ", granularity=channel, channel_frac_width=[3, -2, 126, -126, 40, 0, -40])");
    INFO(format.text());
    for (const Shape& shape : {Shape{7}, Shape{7, 40}, Shape{7, 2, 5}, Shape{7, 3, 3, 3}})
      check_in_torchscript(format, {shape});
  }
}

TEST_CASE("formats that round by chance do not in TorchScript", "[formats]") {
  CHECK(stochastic_formats().size() > 20);
  for (const std::string& text : stochastic_formats()) {
    INFO(text);
    const formats::Format format = formats::parse_format(text);
    CHECK(format.is_stochastic());
    check_in_torchscript(format, shapes_by_rank[2]);
    const ir::Graph graph = negated(format, 2);
    check_three_calls(graph, {adversarial({4, 40}, 3, false)});  // the executor's eval runs, too
  }
}

TEST_CASE("every op takes every format, here and in TorchScript", "[formats]") {
  for (const Fixture& program : quantizable_programs()) {
    if (program.kind != "script") continue;
    const ir::Graph graph = import_fixture(program);
    for (const std::string& name : formats::format_names()) {
      INFO(name);
      // Tiles of hardware must divide their tensors.
      const bool tiles = name == "mxint_hardware";
      const std::string text = tiles ? name + "(parallelism=[1])" : name;
      check_three_calls(with_format(graph, formats::parse_format(text)), program.inputs);
    }
  }
}

TEST_CASE("cases of every format for stock PyTorch are written when a folder is named",
          "[formats][stock]") {
  const char* folder = std::getenv("MASE_STOCK_FOLDER");
  if (folder == nullptr) return;
  std::vector<std::string> texts = format_samples();
  texts.emplace_back("integer(6, 3, rounding=stochastic)");
  for (const std::string& text : texts)
    for (const char* model : {"QuantizableLayers", "QuantizableFunctions"}) {
      const Fixture& program = quantizable_program(model, "script");
      std::string name = std::string(folder) + "/" + model + "_";
      for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      const ir::Graph graph = with_format(import_fixture(program), formats::parse_format(text));
      write_stock_case(graph, program.inputs, name);
      const ir::Graph coded = checkpoint::with_codes_alone(graph);
      if (has_codes(coded) && std::string(model) == "QuantizableLayers")
        write_stock_case(coded, program.inputs, name + "_codes");
    }
}
