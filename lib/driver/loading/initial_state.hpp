// SPDX-License-Identifier: Apache-2.0
// What a model keeps from run to run, where a user gives it no values.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "driver/loading/model_input.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// What the inputs begin with that a checkpoint has values for. Where the first dimension is that
/// of the batch and its rows are alike, they are for any batch; else for one of as many rows as the
/// model was imported with.
std::vector<data::InputColumn> initial_state(const ir::Graph& graph);

/// Example inputs with these values where they have none, in the order of the graph's inputs; the
/// log says so. Error(Fault::config) that names what is missing.
std::vector<Array> with_initial_state(const ir::Graph& graph, ExampleInputs given);

}  // namespace mase::driver
