// SPDX-License-Identifier: Apache-2.0
// What a file says of the numbers in a float tensor, apart from its operators.
#pragma once

#include <optional>
#include <string>

#include "formats/format.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// The format of the numbers that qonnx and FINN note for a tensor: `finn_datatype` is INT4, UINT8,
/// BIPOLAR, BINARY, TERNARY or FIXED<8,4> (bits, bits before the point). nullopt for a tensor
/// without a note, and for other types.
std::optional<formats::Format> annotated_format(const Graph& graph, const std::string& tensor);

}  // namespace mase::onnx
