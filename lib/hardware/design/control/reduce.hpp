// Twin of hw_templates/window/mase_reduce, which is pool over one row under one window.
#pragma once

#include <memory>

#include "hardware/design/control.hpp"
#include "hardware/design/parameters.hpp"

namespace mase::design {

std::unique_ptr<Control> make_reduce_control(const Parameters& parameters);

}  // namespace mase::design
