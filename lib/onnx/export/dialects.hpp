// SPDX-License-Identifier: Apache-2.0
// Dialects: how operators of ONNX say the number formats of a graph's ports.
#pragma once

#include <optional>
#include <string>

#include "base/array.hpp"
#include "formats/format.hpp"
#include "onnx/export.hpp"
#include "onnx/export/node_writer.hpp"

namespace mase::onnx {

/// A tensor of the graph at a port.
struct PortTensor {
  std::string path;    ///< of the tensor, and the name of its initializer
  const Array& value;  ///< float32
  /// A bias is added to sums of products: their step, if data and weight have a single one.
  bool is_bias = false;
  std::optional<double> sum_step = std::nullopt;
};

/// The functions of a dialect give the name of the rounded value. Error(Fault::unsupported) with
/// the reason, before anything is written, when it cannot have the very values of the format.
struct Dialect {
  /// What the graph computes, in float32.
  std::string (*value)(NodeWriter& node, const std::string& x, const formats::Format& format);
  std::string (*tensor)(NodeWriter& node, const PortTensor& tensor, const formats::Format& format);
};

/// nullptr for FormatDialect::none.
const Dialect* dialect_of(FormatDialect dialect);

extern const Dialect qdq_dialect, qonnx_dialect;

}  // namespace mase::onnx
