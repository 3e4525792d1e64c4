// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells as leaves: imported as torch.fx keeps them, their state quantized
// between steps, refused where their tensors do not fit.
#include "torch/run/recurrent.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "base/error.hpp"
#include "ir/text.hpp"
#include "test_paths.hpp"
#include "torch/catch.hpp"
#include "torch/export/export_support.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/run/executor.hpp"

using namespace mase;
using namespace mase::test;

namespace {

/// Levels of relu(x + h): every matrix is 1, every bias 0.
ir::Graph sums(int levels, const std::string& formats) {
  std::string tensors, list;
  for (int i = 0; i < levels; ++i)
    for (const char* name : {"weight_ih", "weight_hh"}) {
      const std::string path = std::string("rnn.") + name + "_l" + std::to_string(i);
      tensors += "  tensor " + path + " : float32[1, 1] parameter grad\n";
      list += (list.empty() ? "" : ", ") + std::string(name) + "=@" + path;
    }
  ir::Graph graph = ir::parse(
      "graph \"sums\" {\n  module rnn : torch.nn.modules.rnn.RNN = mase::rnn_relu(num_layers=" +
          std::to_string(levels) +
          ", dropout=0.0, train=$training, bidirectional=false, batch_first=false) [" + list +
          "]\n" + tensors +
          "  %x : float32[3, 1, 1] = placeholder x\n"
          "  %rnn : tuple(float32[3, 1, 1], float32[" +
          std::to_string(levels) + ", 1, 1]) = call_module rnn mase::rnn_relu(input=%x)" + formats +
          "\n"
          "  %getitem : float32[3, 1, 1] = call_function _operator.getitem "
          "mase::getitem(value=%rnn, index=0)\n"
          "  %output : float32[3, 1, 1] = output output(value=%getitem)\n}\n",
      "sums");
  for (auto& [path, tensor] : graph.tensors) tensor.value = Array::from<float>({1.0F}, {1, 1});
  return graph;
}

/// relu(x + h) over packed sequences of three steps and one, in one direction or both.
ir::Graph packed_sums(bool both, const std::string& formats) {
  const std::string ways = both ? "2" : "1", flag = both ? "true" : "false";
  std::string tensors, list;
  for (const char* suffix : {"", "_reverse"})
    for (const char* name : {"weight_ih", "weight_hh"}) {
      if (*suffix != '\0' && !both) continue;
      const std::string path = std::string("rnn.") + name + "_l0" + suffix;
      tensors += "  tensor " + path + " : float32[1, 1] parameter grad\n";
      list += (list.empty() ? "" : ", ") + std::string(name) + "=@" + path;
    }
  ir::Graph graph = ir::parse(
      "graph \"packed\" {\n  module rnn : torch.nn.modules.rnn.RNN = mase::rnn_relu(num_layers=1, "
      "dropout=0.0, train=$training, bidirectional=" +
          flag + ") [" + list + "]\n" + tensors +
          "  %x : float32[4, 1] = placeholder x\n"
          "  %sizes : int64[3] = placeholder sizes\n"
          "  %rnn : tuple(float32[4, " +
          ways + "], float32[" + ways +
          ", 2, 1]) = call_module rnn mase::rnn_relu(input=%x, batch_sizes=%sizes)" + formats +
          "\n"
          "  %output : tuple(float32[4, " +
          ways + "], float32[" + ways + ", 2, 1]) = output output(value=%rnn)\n}\n",
      "packed");
  for (auto& [path, tensor] : graph.tensors) tensor.value = Array::from<float>({1.0F}, {1, 1});
  return graph;
}

std::vector<Array> packed_inputs(std::vector<std::int64_t> sizes = {2, 1, 1}) {
  const Shape steps{static_cast<std::int64_t>(sizes.size())};
  return {Array::from<float>({0.3F, 0.2F, 0.3F, 0.3F}, {4, 1}),
          Array::from<std::int64_t>(std::move(sizes), steps)};
}

std::vector<float> results_as_floats(const Array& array) {
  return {array.span<float>().begin(), array.span<float>().end()};
}

std::vector<float> run_sums(const ir::Graph& graph) {
  const Array x = Array::from<float>({0.3F, 0.3F, 0.3F}, {3, 1, 1});
  const Array y = executed(graph, {x})[0].second;
  return {y.span<float>().begin(), y.span<float>().end()};
}

void check_near(const std::vector<float>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - wanted[i]) < 1e-6);
}

}  // namespace

TEST_CASE("the state is quantized before every step, and what a step gives is not", "[recurrent]") {
  check_near(run_sums(sums(1, "")), {0.3, 0.6, 0.9});
  // Halves: the steps read 0, Q(0.3) = 0.5 and Q(0.8) = 1.
  const ir::Graph graph = sums(1, " {state=integer(8, 1)}");
  check_near(run_sums(graph), {0.3, 0.8, 1.3});
  check_three_calls(graph, inputs_of(graph));
  CHECK_THROWS_WITH(executed(graph, {Array(DType::float32, {0, 1, 1})}),
                    Catch::Contains("node 'rnn'") && Catch::Contains("no steps"));
}

TEST_CASE("the level above reads the quantized state", "[recurrent]") {
  check_near(run_sums(sums(2, "")), {0.3, 0.9, 1.8});
  // It gets 0.5, 1 and 1.5 and adds its own state, 0, Q(0.5) and Q(1.5).
  const ir::Graph graph = sums(2, " {state=integer(8, 1)}");
  check_near(run_sums(graph), {0.5, 1.5, 3.0});
  check_three_calls(graph, inputs_of(graph));
}

TEST_CASE("data and matrices of a recurrent layer have formats of their own", "[recurrent]") {
  // Quarters: x = 0.25; weights of 0.75 at most, [-1, 1) in quarters.
  check_near(run_sums(sums(1, " {data_in=integer(8, 2), weight_hh=integer(3, 2)}")),
             {0.25, 0.25 + 0.75 * 0.25, 0.25 + 0.75 * (0.25 + 0.75 * 0.25)});
}

TEST_CASE("packed sequences end at different steps, and begin so backwards", "[recurrent]") {
  // The first sequence is 0.3 three times, the second 0.2 once.
  for (const bool both : {false, true}) {
    const ir::Results results = executed(packed_sums(both, ""), packed_inputs());
    REQUIRE(results.size() == 2);
    const std::vector<double> one{0.3, 0.2, 0.6, 0.9}, two{0.3, 0.9, 0.2, 0.2, 0.6, 0.6, 0.9, 0.3};
    check_near(results_as_floats(results[0].second), both ? two : one);
    const std::vector<double> last{0.9, 0.2};
    check_near(results_as_floats(results[1].second),
               both ? std::vector<double>{0.9, 0.2, 0.9, 0.2} : last);
  }
}

TEST_CASE("the state of packed sequences is quantized before every step that they have") {
  // Halves, as above: the steps read 0, Q(0.3) = 0.5 and Q(0.8) = 1; the other sequence reads 0.
  const ir::Graph graph = packed_sums(true, " {state=integer(8, 1)}");
  const ir::Results results = executed(graph, packed_inputs());
  check_near(results_as_floats(results[0].second), {0.3, 1.3, 0.2, 0.2, 0.8, 0.8, 1.3, 0.3});
  check_near(results_as_floats(results[1].second), {1.3, 0.2, 1.3, 0.2});
  Folder folder;
  libtorch::export_torchscript(graph, folder / "packed.pt", {});
  for (const auto& sizes : {std::vector<std::int64_t>{2, 1, 1}, {4}, {1, 1, 1, 1}, {2, 2}})
    CHECK(same(executed(graph, packed_inputs(sizes)),
               called(folder / "packed.pt", packed_inputs(sizes))));
}

TEST_CASE("batch sizes that do not fit are errors that name the node", "[recurrent]") {
  const auto refused = [](const std::vector<std::int64_t>& sizes, const std::string& why) {
    for (const char* formats : {"", " {state=integer(8, 1)}"})
      CHECK_THROWS_WITH(executed(packed_sums(true, formats), packed_inputs(sizes)),
                        Catch::Contains("node 'rnn'") && Catch::Contains(why));
  };
  refused({1, 2, 1}, "given 2 for step 1 after 1");
  refused({2, 2, 0}, "given 0 for step 2 after 2");
  refused({9}, "given 9 for step 0 after 4 rows in all");
  refused({-1}, "given -1 for step 0");
  refused({2, 1}, "add up to the 4 rows of its data, given 3");
  refused({2, 2, 2}, "add up to the 4 rows of its data, given 6 or more");
  refused({}, "with at least one step, given int64[0]");
  ir::Graph short_sizes = packed_sums(false, "");
  short_sizes.node(short_sizes.placeholders()[1]).info.dtype = DType::int32;
  std::vector<Array> inputs = packed_inputs();
  inputs[1] = Array::from<std::int32_t>({2, 1, 1}, {3});
  CHECK_THROWS_WITH(executed(short_sizes, inputs), Catch::Contains("given int32[3]"));
}

TEST_CASE("what LibTorch would write outside of its tensors for is an error", "[recurrent]") {
  const auto graph = [](const std::string& nodes) {
    return ir::parse("graph \"g\" {\n" + nodes + "}\n", "g");
  };
  const ir::Graph padding = graph(
      "  %x : float32[4, 1] = placeholder x\n"
      "  %sizes : int64[3] = placeholder sizes\n"
      "  %pad : tuple(float32[2, 3, 1], int64[2]) = call_function torch._pad_packed_sequence "
      "aten::_pad_packed_sequence(data=%x, batch_sizes=%sizes, batch_first=true, "
      "padding_value=0.0, total_length=4)\n"
      "  %output : tuple(float32[2, 3, 1], int64[2]) = output output(value=%pad)\n");
  CHECK(executed(padding, packed_inputs({2, 1, 1})).size() == 2);
  CHECK_THROWS_WITH(executed(padding, packed_inputs({1, 2, 1})),
                    Catch::Contains("node 'pad'") && Catch::Contains("step 1"));

  const ir::Graph lstm = graph(
      "  %x : float32[2, 3, 4] = placeholder x\n"
      "  %h : float32[1, 3, 5] = placeholder h\n"
      "  %ih : float32[20, 4] = placeholder ih\n"
      "  %hh : float32[20, 5] = placeholder hh\n"
      "  %lstm : tuple(float32[2, 3, 5], float32[1, 3, 5], float32[1, 3, 5]) = call_function "
      "torch.lstm aten::lstm.input(input=%x, hx=[%h, %h], params=[%ih, %hh], has_biases=false, "
      "num_layers=1, dropout=0.0, train=false, bidirectional=false, batch_first=false)\n"
      "  %output : tuple(float32[2, 3, 5], float32[1, 3, 5], float32[1, 3, 5]) = output "
      "output(value=%lstm)\n");
  const auto inputs = [](const Shape& x, const Shape& h, const Shape& ih, const Shape& hh) {
    std::vector<Array> all;
    for (const Shape& shape : {x, h, ih, hh}) all.emplace_back(DType::float32, shape);
    return all;
  };
  CHECK(executed(lstm, inputs({2, 3, 4}, {1, 3, 5}, {20, 4}, {20, 5})).size() == 3);
  const auto refused = [&](const std::vector<Array>& given, const std::string& why) {
    CHECK_THROWS_WITH(executed(lstm, given),
                      Catch::Contains("node 'lstm'") && Catch::Contains(why));
  };
  refused(inputs({2, 3, 9}, {1, 3, 5}, {20, 4}, {20, 5}), "takes 4 features");
  refused(inputs({2, 3, 4}, {1, 1, 5}, {20, 4}, {20, 5}), "the state as float32[1, 3, 5]");
  refused(inputs({2, 3, 4}, {1, 3, 5}, {20, 4}, {20, 3}), "its tensor 1 as float32[20, 5]");
}

TEST_CASE("gradients go straight through the state's format", "[recurrent]") {
  libtorch::Executor executor(sums(1, " {state=integer(8, 1)}"), ir::Level::quantized);
  executor.own_tensors();
  const at::Tensor x = at::full({3, 1, 1}, 0.3F);
  executor.run_training({x}).toTensor().sum().backward();
  // d(h1 + h2 + h3)/dW_hh = (s0) + (s1 + s0) + (s2 + s1 + s0) with the states read, 0, 0.5 and 1.
  const at::Tensor gradient = executor.tensors().at("rnn.weight_hh_l0").grad();
  CHECK(std::abs(gradient.item<float>() - 2.0F) < 1e-6);
}

TEST_CASE("gradients of packed sequences skip the rows that wait", "[recurrent]") {
  // As above for the sequence of three steps; the other reads its zero state alone.
  libtorch::Executor executor(packed_sums(false, " {state=integer(8, 1)}"), ir::Level::quantized);
  executor.own_tensors();
  const at::Tensor x = at::tensor({0.3F, 0.2F, 0.3F, 0.3F}).unsqueeze(1);
  const c10::IValue results = executor.run_training({x, at::tensor({2, 1, 1}, at::kLong)});
  results.toTupleRef().elements()[0].toTensor().sum().backward();
  CHECK(std::abs(executor.tensors().at("rnn.weight_hh_l0").grad().item<float>() - 2.0F) < 1e-6);
  // Every input is counted by each step that it goes through: 3 + 2 + 1, and once.
  const float wanted = 0.3F * 6 + 0.2F;
  CHECK(std::abs(executor.tensors().at("rnn.weight_ih_l0").grad().item<float>() - wanted) < 1e-6);
}

TEST_CASE("recurrent layers and cells are leaves, scripted and traced", "[recurrent]") {
  for (const char* kind : {"script", "trace"}) {
    INFO(kind);
    const ir::Graph graph = import_fixture(quantizable_program("QuantizableRecurrentLayers", kind));
    CHECK(graph.modules.size() == 11);
    CHECK(graph.guards.empty());
    const ir::Module& lstm = graph.modules.at("lstm");
    CHECK(lstm.op == "mase::lstm");
    CHECK(lstm.tensors.size() == 20);  // 2 levels of 2 directions: 2 matrices, 2 biases, projection
    CHECK(graph.modules.at("rnn_cell_relu").op == "mase::rnn_relu_cell");
    const ir::Value* state = graph.find_node("lstm_given")->find("hx");
    REQUIRE(state != nullptr);
    CHECK(state->kind() == ir::Value::Kind::tuple);
    CHECK(graph.find_node("lstm")->find("hx") == nullptr);
  }
}

TEST_CASE("recurrent layers over packed sequences are leaves, scripted and traced", "[recurrent]") {
  for (const char* kind : {"script", "trace"}) {
    INFO(kind);
    const Fixture& program = quantizable_program("QuantizablePackedLayers", kind);
    const ir::Graph graph = import_fixture(program);
    CHECK(graph.modules.size() == 6);
    for (const auto& [path, module] : graph.modules) {
      CHECK(module.op.starts_with("mase::"));
      CHECK(graph.find_node(path)->find("batch_sizes") != nullptr);
      const bool given = path.ends_with("_given") || path == "rnn_relu";
      CHECK((graph.find_node(path)->find("hx") != nullptr) == given);
    }
    CHECK(same(executed(graph, program.inputs), called(program.path, program.inputs)));
  }
}

TEST_CASE("a recurrent layer without all its tensors is refused", "[recurrent]") {
  ir::Graph graph = sums(2, "");
  graph.modules.at("rnn").tensors.pop_back();
  CHECK_THROWS_WITH(run_sums(graph), Catch::Contains("'rnn'") && Catch::Contains("weight_hh"));
  graph = sums(1, "");
  graph.modules.at("rnn").attributes[0].value = ir::Value(std::int64_t{1} << 62);
  CHECK_THROWS_WITH(run_sums(graph), Catch::Contains("weight_ih"));
}

TEST_CASE("recurrent layers that share their tensors are leaves with stock PyTorch's bits") {
  const std::string folder = std::string(MASE_TEST_FOLDER) + "/fixtures/programs/";
  const std::vector<Array> example{read_npy(folder + "example.npy")};
  for (const std::string name : {"Tied", "TracedTied"}) {
    INFO(name);
    backend::ImportOptions options;
    options.inputs = example;
    const ir::Graph graph = libtorch::import_torchscript(folder + name + ".pt", options);
    for (const char* layer : {"first", "second"}) CHECK(graph.find_node(layer)->op == "mase::lstm");
    for (const char* cell : {"cell", "later"}) CHECK(graph.find_node(cell)->op == "mase::gru_cell");
    CHECK(graph.modules.at("first").tensors == graph.modules.at("second").tensors);
    CHECK(same(executed(graph, example), called(folder + name + ".pt", example)));
    check_three_calls(graph, example);
  }
}
