// SPDX-License-Identifier: Apache-2.0
// Rows of dropout, and of what is refused on purpose.
#include "onnx/import/importer.hpp"
#include "onnx/import/rows.hpp"
#include "onnx/import/steps.hpp"

namespace mase::onnx {
namespace {

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

constexpr std::string_view texts = "the graph's tensors have numbers, not text",
                           draws = "it draws random numbers, so its result cannot be compared",
                           training = "it belongs to training, for which `mase train` has its own",
                           varying = "the shape of its result depends on values",
                           spectra = "it works on complex numbers";

constexpr Refusal refusals[] = {
    {"StringConcat", texts},   {"StringNormalizer", texts},    {"StringSplit", texts},
    {"RegexFullMatch", texts}, {"TfIdfVectorizer", texts},     {"Bernoulli", draws},
    {"Multinomial", draws},    {"RandomNormal", draws},        {"RandomNormalLike", draws},
    {"RandomUniform", draws},  {"RandomUniformLike", draws},   {"NonZero", varying},
    {"Unique", varying},       {"NonMaxSuppression", varying}, {"DFT", spectra},
    {"STFT", spectra},
};

}  // namespace

std::vector<Row> control_rows() {
  std::vector<Row> rows{
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
