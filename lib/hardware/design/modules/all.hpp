// SPDX-License-Identifier: Apache-2.0
// The list of all modules, from which the module table and the step table follow.
#pragma once

#include <vector>

#include "hardware/design/module_table.hpp"

namespace mase::design {

struct StepRow;

/// What a struct has of the two: a module that a design may instantiate, a step that becomes
/// hardware. Null for what it lacks.
struct Listed {
  ModuleRow (*row)() = nullptr;
  StepRow (*step)() = nullptr;
};
std::vector<Listed> all_modules();

/// Modules that are only parts of others.
std::vector<ModuleRow> module_parts();

}  // namespace mase::design
