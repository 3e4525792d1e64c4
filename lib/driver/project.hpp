// SPDX-License-Identifier: Apache-2.0
// The project that a checkpoint stands in, and the checkpoints that a project's folder stands for.
#pragma once

#include <string>
#include <string_view>

#include "driver/settings.hpp"

namespace mase::driver {

/// Checkpoints of a project, below its folder.
inline constexpr std::string_view trained_checkpoint = "software/training_ckpts/best.pt";
inline constexpr std::string_view transformed_checkpoint =
    "software/transform/transformed_ckpt/graph_module.pt";
/// What stands in its place where the weights are those of a folder (linked_checkpoint.hpp).
inline constexpr std::string_view linked_checkpoint =
    "software/transform/transformed_ckpt/graph_module";

/// The file of a model: the newest checkpoint of a project if `name` is a project's folder and not
/// that of a built-in model, the copy of a point if it is an address in a store
/// (store/stored_points.hpp), else `name`. Error(Fault::file) if the folder has no checkpoint.
std::string model_file(const std::string& name);

/// The file of weights to start from. For a project's folder it is what training left, or the
/// newest checkpoint if nothing was trained there; otherwise as `model_file` says it, errors too.
std::string weights_file(const std::string& name);

/// Sets project_dir and project to those of the checkpoint, where the sources name neither.
void join_project(const SettingSources& sources, Settings& settings);

}  // namespace mase::driver
