// SPDX-License-Identifier: Apache-2.0
// What a name of an ONNX graph stands for while its nodes are imported.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "formats/format.hpp"
#include "ir/graph.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {

/// A small tensor whose elements are known one by one: constants, or integers on the host that the
/// graph computes from sizes. Exporters compute shapes with such tensors.
struct HostTensor {
  DType dtype = DType::int64;
  Shape shape;                   ///< of any rank
  std::vector<ir::Value> items;  ///< in row-major order: numbers, booleans, or host integer nodes

  static HostTensor integer(ir::Value value) { return {DType::int64, {}, {std::move(value)}}; }
  static HostTensor integers(std::vector<ir::Value> values);
  bool is_constant() const;  ///< whether no item is a node
};

/// A tensor of the file.
struct Constant {
  Array value;
  std::string name;          ///< in the file, or one that says what it is
  std::string path = {};     ///< where the graph holds it; "" until something reads it there
  bool is_parameter = true;  ///< an initializer, not a constant that an exporter wrote
  /// What its bytes are where no dtype says it: codes of small floats and integers.
  ElementType type = ElementType::undefined;
  /// Formats that may hold the values of a quantized constant as they are, the best one first.
  std::vector<formats::Format> formats = {};
};

/// A tensor that was quantized: its values, and how they follow from the codes.
struct Codes {
  ir::NodeId values = ir::no_node;
  Array scale, zero;  ///< float32
  ElementType type = ElementType::undefined;
};

/// A value of the ONNX graph. A constant gets its node when a node reads it.
struct Operand {
  std::optional<Constant> constant = {};
  std::optional<HostTensor> host = {};
  ir::NodeId node = ir::no_node;
  /// The constant matrix that this is the transpose of. It becomes a constant when something reads
  /// it; products read the matrix itself.
  std::string transpose_of = {};
  /// The tensor of which this has the codes; null for all else.
  std::shared_ptr<const Codes> codes = nullptr;
  /// The values of a sequence; null for all else.
  std::shared_ptr<const std::vector<Operand>> items = nullptr;
};

/// Tensors of more elements are never taken apart into host numbers.
inline constexpr std::int64_t most_host_items = 4096;

/// The elements of a small constant; nullopt for large ones and for other dtypes than float32,
/// float64, bool and signed integers.
std::optional<HostTensor> host_of(const Array& array);
/// The array of a constant host tensor.
Array array_of(const HostTensor& tensor);
/// The shortest decimal that rounds to this float32: 1e-5 for the float nearest to it, as the
/// model's author wrote it.
double shortest_decimal(double value);
/// The transpose of a matrix, whose elements are put into their order when they are first read.
Array transposed(const Array& matrix);
/// The same of a constant, which no graph holds yet, with its formats.
Constant transposed(const Constant& matrix, std::string name);

}  // namespace mase::onnx
