// SPDX-License-Identifier: Apache-2.0
// Import of every stored model: nodes as torch.fx names them, outputs as PyTorch computes them.
#include "torch/catch.hpp"

#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"
#include "test_paths.hpp"
#include "torch/export/export_support.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/fx_difference.hpp"
#include "torch/import/torchscript.hpp"

using namespace mase;
using namespace mase::test;
using libtorch::import_torchscript;

namespace {

ir::Results run_fixture(const Fixture& fixture) {
  return evaluator_of(import_fixture(fixture))->run(fixture.inputs);
}

std::string refusal_of(const std::string& path, std::vector<Array> inputs, Fault fault) {
  backend::ImportOptions options;
  options.inputs = std::move(inputs);
  try {
    import_torchscript(path, options);
  } catch (const Error& error) {
    CHECK(error.fault() == fault);
    return error.what();
  }
  FAIL("no error for " + path);
  return "";
}

bool is_exact(const std::string& model) {
  return model != "encoder_tiny" && model != "vit_tiny" && model != "bert_tiny";
}

double thread_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

TEST_CASE("imported nodes are those of torch.fx but for the listed differences") {
  std::vector<std::string> found;
  for (const Fixture& fixture : fixtures()) {
    const auto lines = fx_differences(fx_nodes(fixture.model), nodes_of(import_fixture(fixture)));
    for (const std::string& line : lines) {
      found.push_back(fixture.model + " " + fixture.kind + " " + line);
    }
  }
  std::vector<std::string> allowed;
  for (const std::string& line :
       split(read_file(std::string(MASE_TEST_FOLDER) + "/torch/import/fx_differences.txt"), '\n')) {
    if (line.empty() || line.starts_with("#")) continue;
    const auto bar = line.find(" | ");
    REQUIRE(bar != std::string::npos);
    allowed.push_back(line.substr(0, bar));
  }
  CHECK(join(found, "\n") == join(allowed, "\n"));
}

// Processors add products in different orders, so that stock PyTorch itself gives other last bits
// on another machine than where the outputs were stored: bits are compared on this machine.
TEST_CASE("imported models compute what stock LibTorch computes, and the stored outputs") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    const ir::Results results = run_fixture(fixture);
    torch::jit::Module stock = torch::jit::load(fixture.path);
    stock.eval();
    CHECK(largest_difference(results, called(stock, fixture.inputs)) <=
          (is_exact(fixture.model) ? 0.0 : 1e-6));
    CHECK(largest_difference(results, fixture.outputs) <= 1e-5);
  }
}

TEST_CASE("imported graphs are sound and print to a text that parses back") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    const ir::Graph graph = import_fixture(fixture);
    CHECK(ir::verify(graph) == std::vector<std::string>{});
    const std::string text = ir::print(graph);
    CHECK(ir::print(ir::parse(text, "printed")) == text);
  }
}

// Hidden: a time says nothing where other programs run. scripts/bench/run asks for it.
TEST_CASE("importing takes less than 50 ms of processor time", "[.timing]") {
  for (const Fixture& fixture : fixtures()) {
    INFO(fixture.path);
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const double start = thread_milliseconds();
      import_fixture(fixture);
      best = std::min(best, thread_milliseconds() - start);
    }
    CHECK(best < 50);
  }
}

TEST_CASE("parameters keep their values when the model runs and writes into them") {
  torch::jit::Module module("Statistics");
  module.register_parameter("mean", at::zeros({4}), false);
  module.register_parameter("var", at::ones({4}), false);
  module.register_parameter("weight", at::ones({4, 4}), false);
  module.define(R"(
def forward(self, x):
  y = torch.matmul(x, self.weight)
  return torch.batch_norm(y, None, None, self.mean, self.var, True, 0.1, 1e-5, False)
)");
  Folder folder;
  module.save(folder / "statistics.pt");
  backend::ImportOptions options;
  options.inputs = {Array::from(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 9}, {2, 4})};
  const ir::Graph graph = import_torchscript(folder / "statistics.pt", options);
  const auto is_filled = [&](const char* path, float value) {
    const auto values = graph.tensors.at(path).value.span<float>();
    return std::ranges::all_of(values, [&](float one) { return one == value; });
  };
  CHECK(is_filled("mean", 0));
  CHECK(is_filled("var", 1));
  CHECK(is_filled("weight", 1));
}

namespace {

/// A scripted model that multiplies its input by `factor`, and an input.
void with_factor(const std::string& factor,
                 const std::function<void(const std::string&, const std::vector<Array>&)>& use) {
  INFO(factor);
  torch::jit::Module module("Scaled");
  module.define("def forward(self, x):\n  return x * " + factor + "\n");
  Folder folder;
  module.save(folder / "scaled.pt");
  use(folder / "scaled.pt", {Array::from(std::vector<float>{1, 2, 3, 4}, {1, 4})});
}

}  // namespace

TEST_CASE("a constant that every run would draw anew is refused") {
  for (const char* factor : {"torch.dropout(torch.ones([4]), 0.5, True)",
                             "torch.alpha_dropout(torch.ones([4]), 0.5, True)",
                             "torch.rrelu(torch.ones([4]), 0.1, 0.3, True)"})
    with_factor(factor, [](const std::string& file, const std::vector<Array>& example) {
      const std::string message = refusal_of(file, example, Fault::unsupported);
      CHECK(message.find("draws random numbers for a constant") != std::string::npos);
      CHECK(message.find("model.eval()") != std::string::npos);
    });
  for (const char* factor :
       {"torch.dropout(torch.ones([4]), 0.0, True)", "torch.dropout(torch.ones([4]), 0.5, False)"})
    with_factor(factor, [](const std::string& file, const std::vector<Array>& example) {
      backend::ImportOptions options;
      options.inputs = example;
      CHECK_NOTHROW(import_torchscript(file, options));
    });
}

TEST_CASE("data-dependent control flow is refused with both places") {
  const std::string message =
      refusal_of(model_file("data_dependent/data_dependent.script.pt"),
                 {read_npy(model_file("data_dependent/inputs.npy"))}, Fault::unsupported);
  // Places as expected_refusal.txt lists them.
  CHECK(message.find("data-dependent control flow at fixture_nets.py:310") != std::string::npos);
  CHECK(message.find("code/__torch__/fixture_nets.py:10") != std::string::npos);
  CHECK(message.find("torch.where") != std::string::npos);
}

TEST_CASE("batch norm and dropout keep the training flag of scripted models") {
  const ir::Graph bn = import_fixture(fixture("jsc_tiny", "script"));
  CHECK(*bn.modules.at("seq_blocks.0").attribute("training") == ir::Value(ir::TrainingFlag{}));
  const ir::Graph dropout = import_fixture(fixture("dropout_mlp", "script"));
  CHECK(*dropout.modules.at("drop_in").attribute("train") == ir::Value(ir::TrainingFlag{}));
  CHECK(*dropout.find_node("dropout")->find("train") == ir::Value(ir::TrainingFlag{}));
}

TEST_CASE("tensors keep their state_dict order, containers their classes") {
  const ir::Graph graph = import_fixture(fixture("jsc_tiny", "script"));
  CHECK(graph.tensor_order == std::vector<std::string>{"seq_blocks.0.weight", "seq_blocks.0.bias",
                                                       "seq_blocks.0.running_mean",
                                                       "seq_blocks.0.running_var",
                                                       "seq_blocks.0.num_batches_tracked",
                                                       "seq_blocks.2.weight", "seq_blocks.2.bias"});
  CHECK(graph.containers.at("seq_blocks") == "torch.nn.modules.container.Sequential");
  CHECK(graph.name == "JscTiny");
  CHECK(graph.tensors.at("seq_blocks.2.weight").is_parameter);
  CHECK_FALSE(graph.tensors.at("seq_blocks.0.running_mean").is_parameter);
}

TEST_CASE("wrong examples are refused with the argument's name") {
  const std::string path = fixture("two_inputs", "script").path;
  CHECK(refusal_of(path, {}, Fault::file).find("'features'") != std::string::npos);
  const Array x(DType::float32, {4, 12});
  CHECK(refusal_of(path, {x, x, x}, Fault::file).find("takes 2 inputs") != std::string::npos);
  const Array wrong(DType::float32, {4, 3});
  CHECK(refusal_of(path, {wrong, wrong}, Fault::file).find("aten::linear") != std::string::npos);
}

TEST_CASE("the signature names the inputs") {
  const auto names = libtorch::read_signature(fixture("two_inputs", "trace").path).inputs;
  CHECK(names == std::vector<std::string>{"features", "context"});
}
