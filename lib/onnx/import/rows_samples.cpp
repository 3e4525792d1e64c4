// SPDX-License-Identifier: Apache-2.0
// Rows that move elements along one dimension to places of each sample's own (reversed sequences,
// caches of keys and values), or to its middle.
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// 0, 1, ... below a size.
ir::NodeId counted(Call& call, const ir::Value& size) {
  return call.emit("aten::arange", {{"end", size}, {"dtype", number_of(DType::int64)}});
}

/// Numbers [samples] or [samples, places], or [places] for all samples, in the shape of a tensor.
ir::NodeId spread(Call& call, ir::NodeId numbers, std::int64_t batch, std::int64_t axis,
                  ir::NodeId shape) {
  const auto rank = static_cast<std::int64_t>(call.info(shape).shape.size());
  if (call.info(numbers).shape.size() == 2 && batch > axis)
    numbers = call.emit("aten::t", {{"self", ref(numbers)}});
  for (std::int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis && (dim != batch || call.info(numbers).shape.size() == 1))
      numbers = call.emit("aten::unsqueeze", {{"self", ref(numbers)}, {"dim", dim}});
  return call.emit("aten::expand",
                   {{"self", ref(numbers)}, {"size", ir::Value::list(sizes_of(call, shape))}});
}

/// One number per sample as a column.
ir::NodeId column(Call& call, std::size_t i) {
  const ir::NodeId numbers = converted(call, call.tensor(i), DType::int64);
  return call.emit("aten::unsqueeze", {{"self", ref(numbers)}, {"dim", 1}});
}

/// Place t of a sequence is place length - 1 - t, and stays behind the length.
void reverse_sequence(Call& call) {
  const ir::NodeId input = call.tensor(0);
  const std::int64_t time = call.axis(call.integer("time_axis", 0), call.rank(0));
  const std::int64_t batch = call.axis(call.integer("batch_axis", 1), call.rank(0));
  if (time == batch || call.rank(1) != 1) call.wrong("its axes or lengths do not fit it");
  const ir::NodeId places = counted(call, call.size(input, time));
  const ir::NodeId lengths = column(call, 1);
  const ir::NodeId opposite = combined(
      call, "aten::sub", combined(call, "aten::sub", lengths, std::int64_t{1}), ref(places));
  const ir::NodeId inside =
      call.emit("aten::lt.Tensor", {{"self", ref(places)}, {"other", ref(lengths)}});
  const ir::NodeId from =
      call.emit("aten::where.self",
                {{"condition", ref(inside)}, {"self", ref(opposite)}, {"other", ref(places)}});
  call.result(call.emit("aten::gather", {{"self", ref(input)},
                                         {"dim", time},
                                         {"index", ref(spread(call, from, batch, time, input))}}));
}

/// Writes the update from a place of each sample's own on.
void tensor_scatter(Call& call) {
  const ir::NodeId cache = call.tensor(0), update = call.tensor(1);
  const std::int64_t axis = call.axis(call.integer("axis", -2), call.rank(0));
  if (axis == 0) call.wrong("its axis is that of the samples");
  ir::NodeId places = counted(call, call.size(update, axis));
  if (call.has(2)) places = combined(call, "aten::add", column(call, 2), ref(places));
  if (call.text("mode", "linear") == "circular")
    places = call.emit("aten::remainder.Scalar",
                       {{"self", ref(places)}, {"other", call.size(cache, axis)}});
  call.result(call.emit("aten::scatter.src", {{"self", ref(cache)},
                                              {"dim", axis},
                                              {"index", ref(spread(call, places, 0, axis, update))},
                                              {"src", ref(update)}}));
}

/// The middle of the operand, or the operand in the middle of zeros.
void center_crop_pad(Call& call) {
  ir::NodeId node = call.tensor(0);
  const auto sizes = call.integers(1);
  const std::int64_t rank = call.rank(0);
  std::vector<std::int64_t> axes = call.integers("axes").value_or(std::vector<std::int64_t>{});
  if (!call.has_attribute("axes"))
    for (std::int64_t dim = 0; dim < rank; ++dim) axes.push_back(dim);
  if (axes.size() != sizes.size()) call.wrong("its sizes are not one per axis");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = call.axis(axes[i], rank), in = fixed_size(call, node, axis);
    const std::int64_t out = sizes[i], before = (in > out ? in - out : out - in) / 2;
    if (in > out) {
      node = call.emit("aten::slice.Tensor", {{"self", ref(node)},
                                              {"dim", axis},
                                              {"start", before},
                                              {"end", before + out},
                                              {"step", 1}});
    } else if (in < out) {
      std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * (rank - axis)), 0);
      pads[pads.size() - 2] = before;
      pads[pads.size() - 1] = out - in - before;
      node = call.emit(
          "aten::pad",
          {{"self", ref(node)}, {"pad", list_of(pads)}, {"mode", "constant"}, {"value", 0.0}});
    }
  }
  call.result(node);
}

}  // namespace

std::vector<Row> sample_rows() {
  return {
      {"ReverseSequence", 10, reverse_sequence},
      {"TensorScatter", 24, tensor_scatter},
      {"CenterCropPad", 18, center_crop_pad},
  };
}

}  // namespace mase::onnx
