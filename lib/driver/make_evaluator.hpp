// SPDX-License-Identifier: Apache-2.0
// What runs graphs: LibTorch, or the interpreter of integer programs.
#pragma once

#include "ir/evaluator.hpp"

namespace mase::driver {

/// What to say of another device at the level integer, whose interpreter is on the CPU.
inline constexpr const char* integer_on_cpu =
    "the level integer computes on the CPU, whatever --device says";

/// Makes evaluators for all levels except rtl, which needs an emitted folder (driver/hardware.hpp).
ir::MakeEvaluator make_evaluator();

}  // namespace mase::driver
