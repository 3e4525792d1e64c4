// SPDX-License-Identifier: Apache-2.0
// What a model name stands for, what is known of the model then, and what is refused.
#include "driver/loading/load_model.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "driver/save_checkpoint.hpp"
#include "ir/text.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"
#include "test_paths.hpp"

using namespace mase;
using namespace mase::driver;
using mase::test::TemporaryFolder;

namespace {

const std::string models = std::string(MASE_TEST_FOLDER) + "/fixtures/models/";
const std::string jsc = models + "jsc_tiny/jsc_tiny.script.pt";
const std::string jsc_rows = models + "jsc_tiny/inputs.npy";

ModelRequest request_of(const std::string& model) {
  ModelRequest request;
  request.model = model;
  return request;
}

std::string refusal(const ModelRequest& request, Fault fault) {
  return test::message_of(fault, [&] { load_model(request); });
}

void says(const std::string& message, const std::string& part) {
  CHECK_THAT(message, Catch::Contains(part));
}

/// A checkpoint of a built-in model, with a line in its metadata.
std::string stored(const std::string& model, const TemporaryFolder& folder) {
  Tree info = Tree::dict();
  info["note"] = "kept";
  const std::string path = folder.file(model + ".pt");
  save_checkpoint(load_model(request_of(model)).graph, path, info);
  return path;
}

/// The first matrix; norms begin with ones, whatever the seed.
Array weight_of(const ir::Graph& graph) {
  for (const auto& [path, tensor] : graph.tensors)
    if (tensor.value.shape().size() == 2) return tensor.value;
  FAIL("no weight");
  return {};
}

/// Each option of an import by itself, with the words that name it.
std::vector<std::pair<std::string, ModelInput>> import_options() {
  std::vector<std::pair<std::string, ModelInput>> options;
  options.emplace_back("--submodule", ModelInput{.submodule = "part"});
  options.emplace_back("--leaf-module", ModelInput{.leaf_modules = {"Block"}});
  options.emplace_back("--leaf-function", ModelInput{.leaf_functions = {"attention"}});
  options.emplace_back("--fix", ModelInput{.fixed = {"n=1"}});
  return options;
}

}  // namespace

TEST_CASE("a built-in model has random weights of its seed, and no example") {
  ModelRequest request = request_of("jsc-tiny");
  const LoadedModel loaded = load_model(request);
  CHECK(loaded.untrained);
  CHECK_FALSE(loaded.measured);
  CHECK(loaded.info.is_null());
  CHECK(loaded.example.empty());
  CHECK(loaded.graph.placeholders().size() == 1);
  CHECK(weight_of(load_model(request).graph).same_bits(weight_of(loaded.graph)));
  request.seed = 1;
  CHECK_FALSE(weight_of(load_model(request).graph).same_bits(weight_of(loaded.graph)));
}

TEST_CASE("example inputs of a graph that is there are as many as it takes") {
  ModelRequest request = request_of("jsc-tiny");
  request.input.input_shapes = {"4,16"};
  const LoadedModel zeros = load_model(request);
  REQUIRE(zeros.example.size() == 1);
  CHECK(zeros.example[0].shape() == Shape{4, 16});
  CHECK_FALSE(zeros.measured);
  request.input = {.inputs = {jsc_rows}};
  CHECK(load_model(request).measured);
  request.input = {.inputs = {jsc_rows, jsc_rows}};
  CHECK(refusal(request, Fault::config) == "the model takes 1 inputs, but 2 were given");
}

TEST_CASE("a name that is neither a model nor a file is refused with what would do") {
  const std::string message = refusal(request_of("jsc-tin"), Fault::config);
  says(message, "unknown model 'jsc-tin'; did you mean 'jsc-tiny'?");
  says(message, "Built-in models: jsc-toy, jsc-tiny, ");
  CHECK(message.ends_with("; or give the path of a model file"));
  for (const char* path : {"no/such.pt", "such.pt", "no/such"})
    CHECK(refusal(request_of(path), Fault::file) == std::string(path) + ": no such file");
}

TEST_CASE("a TorchScript file without example inputs is traced with a guess") {
  const LoadedModel loaded = load_model(request_of(jsc));
  REQUIRE(loaded.example.size() == 1);
  CHECK(loaded.example[0].shape().back() == 16);
  CHECK_FALSE(loaded.untrained);
  CHECK_FALSE(loaded.measured);
  CHECK(loaded.info.is_null());
  const std::string two = models + "two_inputs/two_inputs.script.pt";
  const std::string message = refusal(request_of(two), Fault::config);
  says(message, two + " needs example inputs for ");
  CHECK(message.ends_with("; give --input FILE.npy, --input-shape, or a data set"));
}

TEST_CASE("a TorchScript file is traced with the example inputs that are given") {
  ModelRequest request = request_of(jsc);
  request.input.input_shapes = {"7,16"};
  const LoadedModel zeros = load_model(request);
  REQUIRE(zeros.example.size() == 1);
  CHECK(zeros.example[0].shape() == Shape{7, 16});
  CHECK_FALSE(zeros.measured);
  request.input = {.inputs = {"x=" + jsc_rows}};
  const LoadedModel rows = load_model(request);
  REQUIRE(rows.example.size() == 1);
  CHECK(rows.example[0].same_bits(read_npy(jsc_rows)));
  CHECK(rows.measured);
}

TEST_CASE("a checkpoint comes with its graph, its weights and its metadata") {
  const TemporaryFolder folder;
  const std::string path = stored("jsc-tiny", folder);
  const LoadedModel made = load_model(request_of("jsc-tiny"));
  ModelRequest request = request_of(path);
  request.seed = 1;
  const LoadedModel loaded = load_model(request);
  CHECK(loaded.info.at("note").as_string() == "kept");
  CHECK_FALSE(loaded.untrained);
  CHECK(loaded.example.empty());
  CHECK(ir::print(loaded.graph) == ir::print(made.graph));
  CHECK(weight_of(loaded.graph).same_bits(weight_of(made.graph)));
  CHECK(weight_of(load_checkpoint(path).graph).same_bits(weight_of(made.graph)));
  CHECK_THAT(test::message_of(Fault::file, [] { load_checkpoint(jsc); }),
             Catch::Contains("is a TorchScript model, but not a checkpoint of mase; `mase init`"));
}

TEST_CASE("options of an import are refused where the graph is there already") {
  const TemporaryFolder folder;
  const std::string path = stored("jsc-tiny", folder);
  for (const auto& [option, input] : import_options()) {
    ModelRequest built = request_of("jsc-tiny"), read = request_of(path);
    built.input = read.input = input;
    const std::string end =
        ", whose graph is already built; use this option with a TorchScript file";
    CHECK(refusal(built, Fault::config) == option + ": jsc-tiny is a built-in model" + end);
    CHECK(refusal(read, Fault::config) == option + ": " + path + " is a checkpoint" + end);
  }
}

TEST_CASE("a file to load gives a checkpoint's graph or only weights") {
  const TemporaryFolder folder;
  const std::string path = stored("jsc-tiny", folder);
  const LoadedModel made = load_model(request_of("jsc-tiny"));
  for (const char* type : {"auto", "mz", "pt"}) {
    ModelRequest request = request_of("jsc-tiny");
    request.seed = 1;
    request.load_name = path;
    request.load_type = type;
    const LoadedModel loaded = load_model(request);
    CHECK_FALSE(loaded.untrained);
    CHECK(weight_of(loaded.graph).same_bits(weight_of(made.graph)));
    CHECK(loaded.info.is_null() == (std::string(type) == "pt"));
  }
}

TEST_CASE("a file to load that does not fit is refused with what would") {
  const TemporaryFolder folder;
  ModelRequest request = request_of("jsc-tiny");
  request.load_name = folder.file("none.pt");
  CHECK(refusal(request, Fault::file) == *request.load_name + ": no such file (--load)");
  request.load_name = jsc;
  request.load_type = "mz";
  says(refusal(request, Fault::file), jsc + " is a TorchScript model, but not a checkpoint");
  request.load_name = stored("toy", folder);
  request.load_type = "auto";
  const std::string other = refusal(request, Fault::config);
  says(other, "--load " + *request.load_name + " is a checkpoint of another model than 'jsc-tiny'");
  says(other, "missing in the file: ");
  CHECK(
      other.ends_with("\nName the model it belongs to, or give the checkpoint itself as the model, "
                      "without --load"));
}
