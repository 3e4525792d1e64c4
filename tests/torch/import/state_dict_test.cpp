// SPDX-License-Identifier: Apache-2.0
// Tests of loading tensors: state_dicts written by stock PyTorch (state_dicts/make.py), TorchScript
// files, checkpoints, and what does not fit or is damaged.
#include "torch/import/state_dict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

// LibTorch's headers define a CHECK of their own, so Catch's must come after them.
#include "torch/export/export_support.hpp"

#include "torch/catch.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/npy.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "checkpoint/archive.hpp"
#include "test_paths.hpp"
#include "torch/export/torchscript.hpp"
#include "torch/fixtures.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/small_graphs.hpp"

using namespace mase;
using namespace mase::test;

namespace {

std::string stored(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/state_dicts/" + name;
}

ir::Graph shared_module() { return import_fixture(fixture("shared_module", "script")); }

/// make.py fills tensor number i with i + 0.5.
void check_filled(const ir::Graph& graph) {
  for (std::size_t i = 0; i < graph.tensor_order.size(); ++i) {
    const Array& value = graph.tensors.at(graph.tensor_order[i]).value;
    const auto floats = value.span<float>();
    CHECK(std::all_of(floats.begin(), floats.end(),
                      [&](float v) { return v == static_cast<float>(i) + 0.5F; }));
  }
}

std::string refusal_of(const std::string& path) {
  ir::Graph graph = shared_module();
  const std::string before = checkpoint::tensor_hash(graph);
  std::string message;
  try {
    libtorch::load_state_dict(path, graph);
  } catch (const Error& error) {
    if (error.fault() != Fault::file) throw;
    message = error.what();
  }
  if (checkpoint::tensor_hash(graph) != before) throw std::logic_error("the graph was changed");
  return message;
}

}  // namespace

TEST_CASE("numbers that are none load as they are: a tensor equals itself", "[state]") {
  ir::Graph graph = shared_module();
  const std::string name = graph.tensor_order.front();
  graph.tensors.at(name).value.mutable_span<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  Folder folder;
  libtorch::export_torchscript(graph, folder / "model.pt", {});
  ir::Graph loaded = shared_module();
  libtorch::load_state_dict(folder / "model.pt", loaded);
  CHECK(std::isnan(loaded.tensors.at(name).value.span<float>()[0]));
}

TEST_CASE("state_dicts of torch.save are read: plain, nested, parameters, doubles", "[state]") {
  for (const char* name : {"plain.pt", "nested.pt", "parameters.pt", "double.pt"}) {
    INFO(name);
    ir::Graph graph = shared_module();
    libtorch::load_state_dict(stored(name), graph);
    check_filled(graph);
  }
}

TEST_CASE("a prefix of all names is left out where that makes them the model's", "[state]") {
  ir::Graph graph = shared_module();
  libtorch::load_state_dict(stored("prefixes.pt"), graph);
  check_filled(graph);
  CHECK_THAT(refusal_of(stored("wrong_prefix.pt")),
             Catch::Contains("not in the model: other." + graph.tensor_order.front() + "x"));
}

TEST_CASE("as in PyTorch, batch norms need no counter", "[state]") {
  ir::Graph graph = import_fixture(fixture("jsc_tiny", "script"));
  Array& counter = graph.tensors.at("seq_blocks.0.num_batches_tracked").value;
  counter.mutable_span<std::int64_t>()[0] = 7;
  libtorch::load_state_dict(stored("no_counter.pt"), graph);
  CHECK(graph.tensors.at("seq_blocks.0.num_batches_tracked").value.span<std::int64_t>()[0] == 7);
  CHECK(graph.tensors.at("seq_blocks.2.bias").value.span<float>()[0] == 0.25F);
}

TEST_CASE("constants of a model's code are in no state_dict", "[state]") {
  ir::Graph graph = shared_module();
  graph.set_tensor("_tensor_constant0", {Array(DType::float32, {3}), false, false});
  libtorch::load_state_dict(stored("plain.pt"), graph);
  CHECK(graph.tensors.at(graph.tensor_order.front()).value.span<float>()[0] == 0.5F);
}

TEST_CASE("tied tensors are read by any of their names, and have one value", "[state]") {
  backend::ImportOptions options;
  const std::string folder = std::string(MASE_TEST_FOLDER) + "/fixtures/tied/";
  options.inputs = {read_npy(folder + "tokens.npy")};
  ir::Graph graph = libtorch::import_torchscript(folder + "tied.script.pt", options);
  const std::string hash = checkpoint::tensor_hash(graph);
  graph.tensors.at("embed.weight").value = Array(DType::float32, {7, 4});
  libtorch::load_state_dict(stored("tied_second_name.pt"), graph);
  CHECK(checkpoint::tensor_hash(graph) == hash);
  CHECK_THROWS_WITH(libtorch::load_state_dict(stored("tied_apart.pt"), graph),
                    Catch::Contains("head.weight and embed.weight are one tensor"));
}

TEST_CASE("the tensors of a TorchScript file are a state_dict", "[state]") {
  ir::Graph graph = shared_module();
  const std::string hash = checkpoint::tensor_hash(graph);
  libtorch::load_state_dict(stored("plain.pt"), graph);
  CHECK(checkpoint::tensor_hash(graph) != hash);
  libtorch::load_state_dict(fixture("shared_module", "trace").path, graph);
  CHECK(checkpoint::tensor_hash(graph) == hash);
}

TEST_CASE("every difference of a state_dict is listed at once", "[state]") {
  using Catch::Contains;
  const std::string first = shared_module().tensor_order.front();
  CHECK_THAT(refusal_of(stored("wrong_names.pt")),
             Contains("missing in the file: " + first) &&
                 Contains("not in the model: extra.weight float32[2]"));
  CHECK_THAT(refusal_of(stored("wrong_shape.pt")),
             Contains("different: " + first + " is float32[1]"));
  CHECK_THAT(refusal_of(stored("module.pt")), Contains("torch.save(model.state_dict(), path)"));
  CHECK_THAT(refusal_of(stored("list.pt")), Contains("no state_dict"));
  CHECK_THAT(refusal_of(stored("legacy.pt")), Contains("before PyTorch 1.6"));
}

TEST_CASE("a state_dict cannot run code", "[state]") {
  CHECK_FALSE(refusal_of(stored("unsafe.pt")).empty());
  CHECK_FALSE(file_exists("unsafe_code_was_run"));
}

TEST_CASE("damaged state_dicts give an error or the same values", "[state]") {
  const std::string bytes = read_file(stored("plain.pt"));
  ir::Graph graph = shared_module();
  libtorch::load_state_dict(stored("plain.pt"), graph);
  const std::string hash = checkpoint::tensor_hash(graph);
  const Folder folder;
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    INFO("mutation " << i);
    std::string copy = bytes;
    copy[random.below(copy.size())] ^= static_cast<char>(1 + random.below(255));
    if (i % 2 == 0) copy.resize(random.below(copy.size()));
    write_file(folder / "x.pt", copy);
    try {
      libtorch::load_state_dict(folder / "x.pt", graph);
    } catch (const Error& error) {
      CHECK(error.fault() == Fault::file);
    }
    CHECK(checkpoint::tensor_hash(graph) == hash);
  }
}

TEST_CASE("tensors that are not those of the checkpoint are refused", "[state]") {
  const Folder folder;
  ir::Graph graph = small_graphs::perceptron();
  auto extras = checkpoint::extra_files(graph, Tree::dict());
  extras["mase/info.json"] = replace_all(extras.at("mase/info.json"),
                                         checkpoint::tensor_hash(graph), std::string(64, '0'));
  libtorch::export_torchscript(graph, folder / "model.pt", extras);
  CHECK_THROWS_WITH(checkpoint::load_tensors(checkpoint::open_model(folder / "model.pt"), graph),
                    Catch::Contains("tensor_hash differs"));
}
