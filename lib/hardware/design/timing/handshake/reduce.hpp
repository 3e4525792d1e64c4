// SPDX-License-Identifier: Apache-2.0
// Handshake model of hw_templates/window/mase_reduce, which is pool over one row under one window.
#pragma once

#include <memory>

#include "hardware/design/module_parameters.hpp"
#include "hardware/design/timing/handshake.hpp"

namespace mase::design {

/// Parameters as in mase_reduce.
std::unique_ptr<Handshake> make_reduce_handshake(const ModuleParameters& parameters, Stages kept);

}  // namespace mase::design
