// SPDX-License-Identifier: Apache-2.0
// An ONNX file as it is stored: the messages of onnx.proto as plain structures, which readers and
// writers of graphs use without protobuf. Meanings are those of ONNX's IR specification.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/array.hpp"

namespace mase::onnx {

/// TensorProto.DataType, with its numbers.
enum class ElementType : std::int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
};

/// What an element type is called, how wide it is, and how an Array holds it.
struct ElementRow {
  ElementType type;
  std::string_view name;  ///< "FLOAT8E4M3FN", as onnx.proto spells it
  int bits;               ///< of an element in raw_data; 0 for what has no raw form
  /// The array's dtype; uint8 for codes of types that no dtype has, one code per element; nullopt
  /// for types that cannot be read.
  std::optional<DType> dtype;
  bool coded = false;  ///< the array holds codes, whose values a number format gives
};
/// The row of a type; nullptr for a number that the table does not have.
const ElementRow* find_element(ElementType type);
std::string element_name(ElementType type);       ///< also of unknown numbers: "type 99"
ElementType element_of(DType dtype);              ///< the type whose values are those of a dtype
std::optional<DType> dtype_of(ElementType type);  ///< nullopt for codes and unreadable types

/// Names with values, in the file's order (metadata_props).
using Properties = std::vector<std::pair<std::string, std::string>>;
/// The value of a name; nullptr when it is absent.
const std::string* find_property(const Properties& properties, std::string_view name);

/// A tensor with its values.
struct Tensor {
  std::string name;
  ElementType type = ElementType::undefined;
  Array value;  ///< with the tensor's shape; a large one is mapped, and may not be aligned
  std::string doc;
  Properties metadata;
};

struct Graph;

/// A node's attribute. A graph is shared, as copies of nodes are cheap.
struct Attribute {
  using Floats = std::vector<double>;
  using Ints = std::vector<std::int64_t>;
  using Strings = std::vector<std::string>;
  using Value = std::variant<std::monostate, double, std::int64_t, std::string, Tensor,
                             std::shared_ptr<const Graph>, Floats, Ints, Strings>;
  std::string name;
  Value value;            ///< monostate: a type that is not read
  std::string reference;  ///< inside a function: the attribute of its call that it stands for
  std::string doc = {};
};

struct Node {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;  ///< "" is an optional one that is absent
  std::vector<Attribute> attributes;
  std::string doc;
  Properties metadata;

  const Attribute* find(std::string_view attribute) const;
};

/// A dimension: a size, a symbol ("batch"), or neither.
struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;
};

/// An input, an output or an inner result with what the file says of its type.
struct ValueInfo {
  std::string name;
  std::string kind = "tensor";  ///< or "sequence", "map", "optional", "sparse_tensor", ""
  ElementType type = ElementType::undefined;
  std::optional<std::vector<Dimension>> shape;
  std::string doc;
  Properties metadata;
};

struct Graph {
  std::string name, doc;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<std::string> sparse_initializers;  ///< their names; they are not read
  std::vector<ValueInfo> inputs, outputs, values;
  std::map<std::string, Properties> annotations;  ///< how tensors are quantized, by their names
  Properties metadata;
};

/// A model's own operator, written in terms of others.
struct Function {
  std::string domain, name, overload, doc;
  std::vector<std::string> inputs, outputs, attributes;
  std::vector<Attribute> defaults;  ///< attributes that have a default
  std::vector<Node> nodes;
  std::map<std::string, std::int64_t> opsets;
};

struct Model {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  ///< version by domain; "" is ONNX's own
  std::string producer, producer_version, domain, doc;
  std::int64_t version = 0;
  Properties metadata;
  Graph graph;
  std::vector<Function> functions;
  std::vector<std::string> external_files;  ///< paths of the files that hold external data
};

/// Reads a file. Large tensors stay in the file, and in those beside it that hold external data.
/// Error(Fault::file) naming the file, and the node or tensor, when it is damaged, when external
/// data lie outside of the file's folder or are shorter than said, and for element types that
/// cannot be read.
Model read_model(const std::string& path);
/// Writes a file atomically; Error(Fault::file) when it cannot, or when it would pass the 2 GiB of
/// a protobuf message.
void write_model(const Model& model, const std::string& path);
/// The files beside an ONNX file that hold its external data; none for other files and for those
/// that cannot be read.
std::vector<std::string> external_files(const std::string& path);
/// Whether the file begins as an ONNX model does. It may still be damaged.
bool is_onnx(const std::string& path);

}  // namespace mase::onnx
