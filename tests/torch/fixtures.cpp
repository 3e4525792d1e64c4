// SPDX-License-Identifier: Apache-2.0
// Reading the stored models.
#include "torch/fixtures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "test_paths.hpp"
#include "torch/import/torchscript.hpp"
#include "torch/run/executor.hpp"

namespace mase::test {
namespace {

std::string result_name(const std::string& file) {
  if (file == "outputs.npy") return "";
  return file.substr(7, file.size() - 7 - 4);  // output_NAME.npy
}

Fixture read_fixture(const std::string& model, const std::string& file, const Tree& facts) {
  const std::string folder = model + "/";
  Fixture fixture{
      model, facts.at("files").at(file).at("kind").as_string(), model_file(folder + file), {}, {}};
  for (const Tree& input : facts.at("inputs").as_list()) {
    fixture.inputs.push_back(read_npy(model_file(folder + input.at("file").as_string())));
  }
  for (const Tree& output : facts.at("outputs").as_list()) {
    const std::string name = output.at("file").as_string();
    fixture.outputs.emplace_back(result_name(name), read_npy(model_file(folder + name)));
  }
  return fixture;
}

double difference(const Array& left, const Array& right) {
  if (left.shape() != right.shape() || left.dtype() != right.dtype() ||
      left.dtype() != DType::float32) {
    return std::numeric_limits<double>::infinity();
  }
  double most = 0;
  for (std::int64_t i = 0; i < left.size(); ++i) {
    const double gap =
        std::abs(static_cast<double>(left.span<float>()[i]) - right.span<float>()[i]);
    if (!(gap <= most)) most = gap;
  }
  return most;
}

}  // namespace

std::string model_file(const std::string& name) {
  return std::string(MASE_TEST_FOLDER) + "/fixtures/models/" + name;
}

const std::vector<Fixture>& fixtures() {
  static const std::vector<Fixture> all = [] {
    std::vector<Fixture> found;
    const Tree index = parse_json(read_file(model_file("index.json")), "index.json");
    for (const auto& [model, facts] : index.at("models").as_dict()) {
      if (model == "data_dependent") continue;
      for (const auto& [file, about] : facts.at("files").as_dict()) {
        if (file.ends_with(".pt")) found.push_back(read_fixture(model, file, facts));
      }
    }
    return found;
  }();
  return all;
}

const std::vector<Fixture>& quantizable_programs() {
  static const std::vector<Fixture> all = [] {
    const std::string folder = std::string(MASE_TEST_FOLDER) + "/fixtures/programs/";
    std::vector<Fixture> found;
    for (const char* name :
         {"Layers", "PlainLayers", "Functions", "PointwiseLayers", "PointwiseFunctions",
          "MoreLayers", "MoreFunctions", "RecurrentLayers", "PackedLayers", "Methods"}) {
      for (const char* kind : {"script", "trace"}) {
        const std::string model = std::string("Quantizable") + name;
        const std::string path = folder + model + "." + kind + ".pt";
        found.push_back({model, kind, path, {read_npy(folder + "image.npy")}, {}});
      }
    }
    return found;
  }();
  return all;
}

namespace {

const Fixture& find(const std::vector<Fixture>& all, const std::string& model,
                    const std::string& kind) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Fixture& candidate) {
    return candidate.model == model && candidate.kind == kind;
  });
  MASE_CHECK(found != all.end(), "no fixture " + model + " " + kind);
  return *found;
}

}  // namespace

const Fixture& fixture(const std::string& model, const std::string& kind) {
  return find(fixtures(), model, kind);
}

const Fixture& quantizable_program(const std::string& model, const std::string& kind) {
  return find(quantizable_programs(), model, kind);
}

std::vector<FxNode> fx_nodes(const std::string& model) {
  std::vector<FxNode> nodes;
  for (const std::string& line : split(read_file(model_file(model + "/fx.txt")), '\n')) {
    const std::vector<std::string> columns = split(line, '\t');
    if (line.starts_with("#") || columns.size() < 3 || columns[0] == "op") continue;
    nodes.push_back({columns[0], columns[1], columns[2]});
  }
  return nodes;
}

std::vector<FxNode> nodes_of(const ir::Graph& graph) {
  std::vector<FxNode> nodes;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    nodes.push_back({std::string(ir::kind_name(node.kind)), node.name, node.target});
  }
  return nodes;
}

ir::Graph import_fixture(const Fixture& fixture) {
  backend::ImportOptions options;
  options.inputs = fixture.inputs;
  return libtorch::import_torchscript(fixture.path, options);
}

std::unique_ptr<ir::Evaluator> evaluator_of(const ir::Graph& graph, ir::Level level) {
  return libtorch::make_evaluator(graph, level);
}

double largest_difference(const ir::Results& left, const ir::Results& right) {
  if (left.size() != right.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (const auto& [name, array] : left) {
    const auto other = std::find_if(right.begin(), right.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (other == right.end()) return std::numeric_limits<double>::infinity();
    most = std::max(most, difference(array, other->second));
  }
  return most;
}

}  // namespace mase::test
