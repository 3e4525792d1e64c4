// Twin of hw_templates/window/reduce, which is pool over one row under one window.
#pragma once

#include <memory>

#include "hw/control.hpp"
#include "hw/parameters.hpp"

namespace mase::hw {

std::unique_ptr<Control> make_reduce_control(const Parameters& parameters);

}  // namespace mase::hw
