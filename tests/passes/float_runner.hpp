// An evaluator without LibTorch for graphs of placeholders, ReLU and linear layers, in double.
#pragma once

#include <memory>

#include "passes/pass.hpp"

namespace mase::test {

/// Runs ReLU modules and linear modules without quantization; shows every result to observers.
ir::MakeEvaluator float_runner();

/// A context with this evaluator whose training rows are `rows`, shown `batch` at a time.
passes::PassContext context_with_rows(const Array& rows, std::int64_t batch);

}  // namespace mase::test
