// SPDX-License-Identifier: Apache-2.0
// Checks that a model, a data set and options can be trained together.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>

#include "backend/training.hpp"
#include "formats/format.hpp"

namespace mase::train {

/// Error(Fault::config) if there are no validation rows, or rows have another number of inputs.
void check_data(const ir::Graph& graph, const data::Dataset& data);

/// The tensor that a model returns, either directly or as the only one in a tuple, list or dict, as
/// models of transformers do. Error(Fault::config) for anything else.
at::Tensor class_scores(const c10::IValue& output);

/// Error(Fault::config) unless `output` is float32 [rows, at least the number of classes] or, if
/// every position has a label, [rows, positions, ...].
void check_output(const at::Tensor& output, std::int64_t rows, const data::Dataset& data);

/// Error(Fault::config) for options of quantized training that would have no effect: if the graph
/// has no formats, no steps to learn (`learned` of them) or no batch norms to fold (`folded`), or
/// if the run of `steps` ends before it is quantized.
void check_quantization(const ir::Graph& graph, const backend::TrainOptions& options,
                        std::int64_t steps, std::size_t learned, int folded);

/// The format of gradients. Error(Fault::config) if the text is not a format, or if the graph has
/// no port with a format at which to round gradients.
std::optional<formats::Format> gradient_format(const ir::Graph& graph,
                                               const backend::TrainOptions& options);

}  // namespace mase::train
