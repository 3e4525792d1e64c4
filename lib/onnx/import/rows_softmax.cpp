// SPDX-License-Identifier: Apache-2.0
// Rows of softmax, and of the places of extreme values.
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

ir::NodeId along(Call& call, std::string_view aten, ir::NodeId input, std::int64_t dim) {
  return call.layer(aten, {{"self", ref(input)}, {"dim", dim}}, TensorPaths{});
}

/// One where the first largest value is, zero elsewhere.
ir::NodeId hardmax(Call& call, ir::NodeId input, std::int64_t dim) {
  const ir::NodeId place =
      call.emit("aten::argmax", {{"self", ref(input)}, {"dim", dim}, {"keepdim", true}});
  const ir::NodeId zeros = applied(call, "aten::zeros_like", input);
  return call.emit("aten::scatter.value",
                   {{"self", ref(zeros)}, {"dim", dim}, {"index", ref(place)}, {"value", 1.0}});
}

ir::NodeId softmax(Call& call, ir::NodeId input, std::int64_t dim) {
  return along(call, "aten::softmax.int", input, dim);
}
ir::NodeId log_softmax(Call& call, ir::NodeId input, std::int64_t dim) {
  return along(call, "aten::log_softmax.int", input, dim);
}

using Step = ir::NodeId (*)(Call&, ir::NodeId, std::int64_t);

template <Step step>
void along_axis(Call& call) {
  call.result(step(call, call.tensor(0), call.integer("axis", -1)));
}

/// Before opset 13 the dimensions from the axis on counted as one.
template <Step step>
void flattened(Call& call) {
  const std::int64_t rank = call.rank(0), axis = call.axis(call.integer("axis", 1), rank);
  if (axis == rank - 1) return call.result(step(call, call.tensor(0), -1));
  const ir::NodeId rows =
      call.emit("aten::flatten.using_ints", {{"self", call.ref(0)}, {"start_dim", axis}});
  const ir::NodeId result = step(call, rows, -1);
  call.result(reshaped(call, result, sizes_of(call, call.tensor(0))));
}

template <Step step>
void add_rows(std::vector<Row>& rows, std::string_view op) {
  rows.push_back({op, 1, flattened<step>});
  rows.push_back({op, 13, along_axis<step>});
}

/// The last of several equal values is the first one from behind.
Row place_of(std::string_view op, std::string_view aten) {
  return {op, 1, [aten](Call& call) {
            const std::int64_t dim = call.axis(call.integer("axis", 0), call.rank(0));
            const bool last = call.integer("select_last_index", 0) != 0;
            ir::NodeId input = call.tensor(0);
            if (last)
              input = call.emit("aten::flip", {{"self", ref(input)}, {"dims", list_of({dim})}});
            ir::NodeId place = call.emit(aten, {{"self", ref(input)},
                                                {"dim", dim},
                                                {"keepdim", call.integer("keepdims", 1) != 0}});
            if (last) {
              const std::int64_t end = fixed_size(call, input, dim) - 1;
              place = combined(call, "aten::add", applied(call, "aten::neg", place), end);
            }
            call.result(place);
          }};
}

}  // namespace

std::vector<Row> softmax_rows() {
  std::vector<Row> rows{place_of("ArgMax", "aten::argmax"), place_of("ArgMin", "aten::argmin")};
  add_rows<softmax>(rows, "Softmax");
  add_rows<log_softmax>(rows, "LogSoftmax");
  add_rows<hardmax>(rows, "Hardmax");
  return rows;
}

}  // namespace mase::onnx
