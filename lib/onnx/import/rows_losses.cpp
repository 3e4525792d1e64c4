// SPDX-License-Identifier: Apache-2.0
// Rows of losses.
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// at::Reduction.
std::int64_t reduction_number(Call& call) {
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return 0;
  if (reduction == "mean") return 1;
  if (reduction == "sum") return 2;
  call.wrong("its reduction is '" + reduction + "'");
}

/// Scores, classes, and weights of classes.
std::vector<ir::Argument> loss_arguments(Call& call) {
  constexpr std::int64_t no_class = -100;
  std::vector<ir::Argument> args{{"self", call.ref(0)},
                                 {"target", ref(converted(call, call.tensor(1), DType::int64))}};
  if (call.has(2)) args.push_back({"weight", call.ref(2)});
  args.push_back({"reduction", reduction_number(call)});
  args.push_back({"ignore_index", call.integer("ignore_index", no_class)});
  return args;
}

void cross_entropy(Call& call) {
  call.result(call.emit("aten::cross_entropy_loss", loss_arguments(call)));
  if (call.wants(1))
    call.result(call.emit("aten::log_softmax.int", {{"self", call.ref(0)}, {"dim", 1}}), 1);
}

void likelihood(Call& call) { call.result(call.emit("aten::nll_loss_nd", loss_arguments(call))); }

}  // namespace

std::vector<Row> loss_rows() {
  return {
      {"SoftmaxCrossEntropyLoss", 12, cross_entropy},
      {"NegativeLogLikelihoodLoss", 12, likelihood},
  };
}

}  // namespace mase::onnx
