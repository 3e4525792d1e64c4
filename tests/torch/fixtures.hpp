// SPDX-License-Identifier: Apache-2.0
// The stored PyTorch models of tests/fixtures/models: files, inputs, outputs and torch.fx node
// tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "ir/evaluator.hpp"
#include "ir/graph.hpp"

namespace mase::test {

struct Fixture {
  std::string model;  ///< "jsc_tiny"
  std::string kind;   ///< "script" or "trace"
  std::string path;
  std::vector<Array> inputs;
  ir::Results outputs;
};

/// Every scripted and traced file that has outputs (not data_dependent).
const std::vector<Fixture>& fixtures();
const Fixture& fixture(const std::string& model, const std::string& kind);

/// The programs of tests/fixtures/programs that hold every quantizable op; no stored outputs.
const std::vector<Fixture>& quantizable_programs();
const Fixture& quantizable_program(const std::string& model, const std::string& kind);
std::string model_file(const std::string& name);  ///< a path below tests/fixtures/models

struct FxNode {
  std::string op, name, target;
  bool operator==(const FxNode&) const = default;
  std::string text() const { return op + " " + name + " " + target; }
};
std::vector<FxNode> fx_nodes(const std::string& model);  ///< as stored in fx.txt
std::vector<FxNode> nodes_of(const ir::Graph& graph);

/// Imports a fixture with its stored inputs.
ir::Graph import_fixture(const Fixture& fixture);

std::unique_ptr<ir::Evaluator> evaluator_of(const ir::Graph& graph,
                                            ir::Level level = ir::Level::floating);

/// Largest absolute difference over all results; infinite when names, shapes or types differ.
double largest_difference(const ir::Results& left, const ir::Results& right);

}  // namespace mase::test
