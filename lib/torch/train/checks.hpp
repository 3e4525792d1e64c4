// SPDX-License-Identifier: Apache-2.0
// Checks that a model, a data set and options can be trained together.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>

#include "backend/training.hpp"
#include "formats/format.hpp"

namespace mase::train {

/// Whether the graph has batch norms, which look at all rows of a batch in training.
bool has_batch_norm(const ir::Graph& graph);

/// Error(Fault::config) if there are no validation rows, or rows have another number of inputs.
void check_data(const ir::Graph& graph, const data::Dataset& data);

/// "a tuple of 2 results", or "a dict of 2 results ('output', 'state')": a model whose state became
/// results returns a dict that names each.
std::string results_text(const c10::IValue& output);

/// Error(Fault::config) unless `output` is float32 and fits targets of the shape `wanted`.
void check_output(const at::Tensor& output, const Shape& wanted, const data::Target& target);

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
