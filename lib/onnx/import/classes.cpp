// SPDX-License-Identifier: Apache-2.0
// Classes, labels and affine steps of the models of ai.onnx.ml.
#include "onnx/import/classes.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "onnx/import/importer.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

std::string name_of(const Call& call, std::string_view tensor) {
  const Node& node = call.node();
  return (node.name.empty() ? node.op : node.name) + "." + std::string(tensor);
}

const Attribute::Strings* texts(const Call& call, std::string_view name) {
  const Attribute* attribute = call.node().find(name);
  return attribute ? std::get_if<Attribute::Strings>(&attribute->value) : nullptr;
}

/// Tree ensembles have another name for whole labels than linear models.
std::vector<std::int64_t> whole_labels(const Call& call) {
  for (const std::string_view name : {"classlabels_ints", "classlabels_int64s"})
    if (auto labels = call.integers(name); labels && !labels->empty()) return *labels;
  return {};
}

bool count_up(const std::vector<std::int64_t>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

}  // namespace

ir::NodeId rows_of(Call& call) {
  const ir::NodeId input = converted(call, call.tensor(0), DType::float32);
  if (call.rank(0) == 2) return input;
  if (call.rank(0) != 1) call.refuse("its operand is not rows of numbers");
  return call.emit("aten::unsqueeze", {{"self", ref(input)}, {"dim", 0}});
}

std::vector<float> floats(const Call& call, std::string_view name) {
  const auto numbers = call.numbers(name);
  return numbers ? std::vector<float>(numbers->begin(), numbers->end()) : std::vector<float>{};
}

ir::NodeId parameter(Call& call, std::string_view name, Array value) {
  const bool trains = is_floating(value.dtype());
  Operand operand{.constant = Constant{std::move(value), name_of(call, name), {}, trains}};
  return call.importer().node_of(operand, "'" + std::string(name) + "'");
}

ir::NodeId affine(Call& call, ir::NodeId rows, const std::vector<float>& weight,
                  const std::vector<float>& bias) {
  const auto outputs = static_cast<std::int64_t>(bias.size());
  const std::int64_t columns = fixed_size(call, rows, 1);
  if (static_cast<std::int64_t>(weight.size()) != outputs * columns)
    call.wrong("it has " + std::to_string(weight.size()) + " coefficients for " +
               std::to_string(outputs) + " results of " + std::to_string(columns) + " columns");
  TensorPaths tensors;
  const auto add = [&](const std::string& argument, Array value) {
    Constant constant{std::move(value), name_of(call, argument), {}, true};
    tensors.emplace_back(argument, call.importer().store(constant, constant.name));
  };
  add("weight", Array::from(weight, {outputs, columns}));
  add("bias", Array::from(bias, {outputs}));
  return call.layer("aten::linear", {{"input", ref(rows)}}, tensors);
}

ir::NodeId post_transformed(Call& call, ir::NodeId scores) {
  const std::string function = call.text("post_transform", "NONE");
  if (function == "NONE") return scores;
  if (function == "LOGISTIC") return applied(call, "aten::sigmoid", scores);
  if (function == "SOFTMAX")
    return call.emit("aten::softmax.int", {{"self", ref(scores)}, {"dim", -1}});
  call.refuse("its post_transform " + function +
              " has no counterpart; NONE, LOGISTIC and SOFTMAX have one");
}

std::size_t class_count(const Call& call) {
  for (const std::string_view name : {"classlabels_strings"})
    if (const auto* labels = texts(call, name); labels && !labels->empty()) return labels->size();
  return whole_labels(call).size();
}

ir::NodeId best_class(Call& call, ir::NodeId scores) {
  return call.emit("aten::argmax", {{"self", ref(scores)}, {"dim", 1}, {"keepdim", false}});
}

void give_classes(Call& call, ir::NodeId classes, ir::NodeId scores) {
  call.result(scores, 1);
  if (!call.wants(0)) return;
  const auto labels = whole_labels(call);
  if (const auto* names = texts(call, "classlabels_strings"); names && !names->empty())
    call.importer().note("the labels '" + call.node().outputs[0] +
                         "' are places in the list of classes: " + join(*names, ", "));
  else if (!count_up(labels))
    classes = call.emit(
        "aten::index_select",
        {{"self", ref(parameter(call, "labels",
                                Array::from(labels, {static_cast<std::int64_t>(labels.size())})))},
         {"dim", 0},
         {"index", ref(classes)}});
  call.result(classes, 0);
}

}  // namespace mase::onnx
