// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/window/mase_argmax, which counts beats as pool does over one row
// under one window, behind a tree.
#pragma once

#include <memory>

#include "hardware/design/handshake.hpp"
#include "hardware/design/module_parameters.hpp"

namespace mase::design {

/// Parameters as in mase_argmax.
std::unique_ptr<Handshake> make_argmax_handshake(const ModuleParameters& parameters, Stages kept);

}  // namespace mase::design
