// SPDX-License-Identifier: Apache-2.0
// Rows of control flow that is known at import, of dropout, and of what is refused on purpose.
#include <memory>

#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

/// The branch of a constant condition comes in the place of the node.
void branch(Call& call) {
  const auto condition = call.find_host(0);
  if (!condition || condition->items.size() != 1 || condition->dtype != DType::boolean ||
      !condition->is_constant())
    call.refuse("operand '" + call.node().inputs.at(0) +
                "' must be known when the model is imported: the graph has no branches");
  const std::string_view name = condition->items[0].as_bool() ? "then_branch" : "else_branch";
  const Attribute* attribute = call.node().find(name);
  const auto* body =
      attribute ? std::get_if<std::shared_ptr<const Graph>>(&attribute->value) : nullptr;
  if (!body) call.wrong("it has no " + std::string(name));
  call.importer().import_body(**body);
  for (std::size_t i = 0; i < call.results(); ++i) {
    if (i >= (*body)->outputs.size()) call.wrong("its branch has too few outputs");
    const Operand* found = call.importer().find((*body)->outputs[i].name);
    if (!found) call.wrong("nothing gives the output '" + (*body)->outputs[i].name + "'");
    call.result(Operand(*found), i);
  }
}

/// Nothing is dropped outside of training.
void dropout(Call& call) {
  if (call.has(2) && call.truth(2) && (!call.has(1) || call.number(std::size_t{1}) != 0))
    call.refuse("it drops values at random, as in training; export the model after eval()");
  call.result(Operand(call.operand(0)));
  if (call.wants(1))
    call.result(
        call.emit("aten::ones_like", {{"self", call.ref(0)}, {"dtype", number_of(DType::boolean)}}),
        1);
}

struct Refusal {
  std::string_view op, reason;
};

constexpr std::string_view
    loops = "the graph has no loops; export the model with a fixed number of steps",
    sequences = "the graph's values are tensors, not sequences or optional values",
    texts = "the graph's tensors have numbers, not text",
    draws = "it draws random numbers, so its result cannot be compared",
    training = "it belongs to training, for which `mase train` has its own",
    varying = "the shape of its result depends on values", spectra = "it works on complex numbers";

constexpr Refusal refusals[] = {
    {"Loop", loops},
    {"Scan", loops},
    {"SequenceAt", sequences},
    {"SequenceConstruct", sequences},
    {"SequenceEmpty", sequences},
    {"SequenceErase", sequences},
    {"SequenceInsert", sequences},
    {"SequenceLength", sequences},
    {"SequenceMap", sequences},
    {"SplitToSequence", sequences},
    {"ConcatFromSequence", sequences},
    {"Optional", sequences},
    {"OptionalGetElement", sequences},
    {"OptionalHasElement", sequences},
    {"StringConcat", texts},
    {"StringNormalizer", texts},
    {"StringSplit", texts},
    {"RegexFullMatch", texts},
    {"TfIdfVectorizer", texts},
    {"Bernoulli", draws},
    {"Multinomial", draws},
    {"RandomNormal", draws},
    {"RandomNormalLike", draws},
    {"RandomUniform", draws},
    {"RandomUniformLike", draws},
    {"NonZero", varying},
    {"Unique", varying},
    {"NonMaxSuppression", varying},
    {"DFT", spectra},
    {"STFT", spectra},
};

}  // namespace

std::vector<Row> control_rows() {
  std::vector<Row> rows{
      {"If", 1, branch},
      {"Dropout", 7, dropout},
      {"Adagrad", 1, {}, {}, "ai.onnx.preview.training", training},
      {"Adam", 1, {}, {}, "ai.onnx.preview.training", training},
      {"Momentum", 1, {}, {}, "ai.onnx.preview.training", training},
      {"Gradient", 1, {}, {}, "ai.onnx.preview.training", training},
  };
  for (const auto& [op, reason] : refusals) rows.push_back({op, 1, {}, {}, {}, reason});
  return rows;
}

}  // namespace mase::onnx
