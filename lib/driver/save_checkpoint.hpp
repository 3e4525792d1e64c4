// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints, and what each of them says of its origin.
#pragma once

#include <string>

#include "base/tree.hpp"
#include "data/dataset.hpp"
#include "ir/graph.hpp"

namespace mase::driver {

/// Writes graph, weights and `info` as one archive, atomically.
void save_checkpoint(const ir::Graph& graph, const std::string& path, const Tree& info);
/// The same, but stores quantized tensors as codes only where the codes determine the values. The
/// log tells how much stays in floats.
void save_codes_alone(const ir::Graph& graph, const std::string& path, const Tree& info);
/// Copies a checkpoint, atomically. Error(Fault::file) if it cannot be read or written.
void copy_checkpoint(const std::string& from, const std::string& to);

/// The metadata that every checkpoint has about its origin: versions of the tool and of LibTorch,
/// and the resolved configuration.
Tree checkpoint_info(const std::string& resolved_configuration, const data::Dataset* dataset);

}  // namespace mase::driver
