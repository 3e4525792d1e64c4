// SPDX-License-Identifier: Apache-2.0
// What a model, a data set and options must have to be trained together.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>

#include "backend/training.hpp"
#include "formats/format.hpp"

namespace mase::train {

/// Error(Fault::config) without validation rows or with another number of inputs than a row has.
void check_data(const ir::Graph& graph, const data::Dataset& data);

/// The tensor that a model returns, alone or as the only one in a tuple, list or dict, as models of
/// transformers do. Error(Fault::config) for anything else.
at::Tensor class_scores(const c10::IValue& output);

/// Error(Fault::config) unless `output` is float32 [rows, at least the number of classes] for
/// `rows` rows, or [rows, positions, ...] where every position has a label.
void check_output(const at::Tensor& output, std::int64_t rows, const data::Dataset& data);

/// Error(Fault::config) for options of quantized training that could have no effect: a graph
/// without formats, without a step that can be learned (`learned` of them), without a batch norm to
/// fold (`folded`), or a run of `steps` that ends before it is quantized.
void check_quantization(const ir::Graph& graph, const backend::TrainOptions& options,
                        std::int64_t steps, std::size_t learned, int folded);

/// The format of gradients. Error(Fault::config) when the text is no format, or no port of the
/// graph has a format, where gradients would be rounded.
std::optional<formats::Format> gradient_format(const ir::Graph& graph,
                                               const backend::TrainOptions& options);

}  // namespace mase::train
