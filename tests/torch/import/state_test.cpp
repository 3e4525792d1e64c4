// SPDX-License-Identifier: Apache-2.0
// Import of models that keep something from run to run: inputs and results of their graphs.
#include <torch/csrc/jit/serialization/import.h>

#include "torch/import/programs.hpp"

using namespace mase;
using namespace mase::test;

namespace {

backend::Imported import_runs(const std::string& name, std::vector<Array> state = {}) {
  backend::ImportOptions options;
  options.inputs = {example()};
  options.inputs.insert(options.inputs.end(), state.begin(), state.end());
  return libtorch::import_with_notes(program_file(name + ".pt"), options);
}

ir::Results run(const backend::Imported& imported, const std::vector<Array>& state) {
  std::vector<Array> inputs{example()};
  inputs.insert(inputs.end(), state.begin(), state.end());
  return evaluator_of(imported.graph)->run(inputs);
}

std::vector<Array> state_of(const ir::Results& results) {
  std::vector<Array> state;
  for (std::size_t i = 1; i < results.size(); ++i) state.push_back(results[i].second);
  return state;
}

bool is_near(const ir::Results& results, const std::string& file) {
  constexpr double other_processor = 1e-6;  // whose matrix products add in another order
  return largest_difference({{"", results[0].second}},
                            {{"", read_npy(program_file(file + ".npy"))}}) < other_processor;
}

std::vector<std::string> names_of(const ir::Results& results) {
  std::vector<std::string> names;
  for (const auto& [name, value] : results) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("buffers and attributes that runs change are inputs and results") {
  const backend::Imported imported = import_runs("Remembers");
  REQUIRE(imported.state.size() == 2);
  REQUIRE(imported.notes.size() == 1);
  CHECK(has(imported.notes[0], "hidden float32[2, 2], mean float32[3, 4]; they start as zeros"));
  const auto begins = [](const ir::Graph& graph, const char* path) {
    const ir::Tensor& tensor = graph.tensors.at(path);
    CHECK(tensor.begins == path);
    CHECK_FALSE(tensor.is_parameter);
    return tensor.value;
  };
  CHECK(begins(imported.graph, "mean").span<float>()[11] == 1.0F);
  CHECK(begins(imported.graph, "hidden").same_bits(Array(DType::float32, {2, 2})));
  // What is given is an example, and changes nothing of what the model begins with.
  const Array sevens = Array::from(std::vector<float>(4, 7), {2, 2});
  const backend::Imported given = import_runs("Remembers", {sevens});
  CHECK(given.state.at(0).same_bits(sevens));
  CHECK(begins(given.graph, "hidden").same_bits(Array(DType::float32, {2, 2})));
  const ir::Results first = run(imported, imported.state);
  CHECK(names_of(first) == std::vector<std::string>{"output", "hidden", "mean"});
  CHECK(is_near(first, "Remembers_first"));
  CHECK(is_near(run(imported, state_of(first)), "Remembers_second"));
}

TEST_CASE("what a run changes for no result is left out") {
  for (const char* name : {"State", "Remembers"})
    CHECK(import_runs(name).graph.find_node("idle") == nullptr);
  CHECK(import_runs("State").graph.placeholders().size() == 1);
}

TEST_CASE("a tensor of the model that is changed in place gives what PyTorch gives") {
  for (const char* name : {"OwnTensor", "OwnPart"}) {
    INFO(name);
    const backend::Imported imported = import_runs(name);
    const ir::Results first = run(imported, imported.state);
    torch::jit::Module module = torch::jit::load(program_file(std::string(name) + ".pt"));
    for (const ir::Results& results : {first, run(imported, state_of(first))})
      CHECK(largest_difference({{"", results[0].second}}, called(module, {example()})) == 0.0);
  }
}

TEST_CASE("a graph is of all runs but a first one of another program, and of given state") {
  const backend::Imported imported = import_runs("StartsOtherwise");
  CHECK(has(imported.notes.at(0), "all runs but the first"));
  CHECK(is_near(run(imported, imported.state), "StartsOtherwise_second"));
  const Array zeros(DType::float32, {2, 3, 4});
  CHECK(import_runs("StartsOtherwise", {zeros}).state[0].span<float>()[5] == 0.0F);
  CHECK_THROWS_WITH(import_runs("StartsOtherwise", {zeros, zeros}),
                    Catch::Contains("takes 2 inputs, but 3 examples"));
}

TEST_CASE("numbers that grow from run to run are no graph") {
  CHECK(has(refusal("Counts", Fault::unsupported), "makes every run differ: 'count'"));
}

TEST_CASE("names of state are inputs that a user may give") {
  CHECK(libtorch::read_signature(program_file("Remembers.pt")).state ==
        std::vector<std::string>{"hidden", "idle", "mean"});
}
