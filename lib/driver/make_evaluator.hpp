// SPDX-License-Identifier: Apache-2.0
// What runs graphs: LibTorch, or the interpreter of integer programs.
#pragma once

#include "ir/evaluator.hpp"

namespace mase::driver {

/// Makes evaluators for all levels except rtl, which needs an emitted folder (driver/hardware.hpp).
ir::MakeEvaluator make_evaluator();

}  // namespace mase::driver
