// SPDX-License-Identifier: Apache-2.0
// Messages of onnx.proto to the structures of model.hpp.
#include <google/protobuf/arena.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "base/error.hpp"
#include "onnx/protobuf/large_tensors.hpp"
#include "onnx/protobuf/proto.hpp"

namespace mase::onnx {
namespace {

/// Bytes of messages that one file may ask for: two bytes of a file can make a message of hundreds.
constexpr std::size_t most_message_bytes = std::size_t{512} << 20;
thread_local std::size_t message_bytes = 0;

void* allocate(std::size_t size) {
  message_bytes += size;
  if (message_bytes > most_message_bytes) throw std::bad_alloc();
  return ::operator new(size);
}

void release(void* block, std::size_t size) {
  message_bytes -= size;
  ::operator delete(block);
}

/// Older versions of onnx.proto have fewer fields.
template <class Message>
Properties metadata_of(const Message& message) {
  Properties properties;
  if constexpr (requires { message.metadata_props(); })
    for (const auto& entry : message.metadata_props())
      properties.emplace_back(entry.key(), entry.value());
  return properties;
}

template <class Message>
std::string overload_of(const Message& message) {
  if constexpr (requires { message.overload(); }) return message.overload();
  return "";
}

template <class Field>
std::vector<std::string> strings_of(const Field& field) {
  return {field.begin(), field.end()};
}

template <class Field>
std::map<std::string, std::int64_t> opsets_of(const Field& field) {
  std::map<std::string, std::int64_t> opsets;
  // "ai.onnx" is another spelling of ONNX's own domain, which is "".
  for (const auto& one : field)
    opsets[one.domain() == "ai.onnx" ? "" : one.domain()] = one.version();
  return opsets;
}

class Reader {
 public:
  explicit Reader(const std::shared_ptr<const FileMap>& file) : file_(*file), tensors_(file) {}

  void model(const proto::ModelProto& message, const RawPlaces& places, Model& model) {
    model.ir_version = message.ir_version();
    model.opsets = opsets_of(message.opset_import());
    model.producer = message.producer_name();
    model.producer_version = message.producer_version();
    model.domain = message.domain();
    model.doc = message.doc_string();
    model.version = message.model_version();
    model.metadata = metadata_of(message);
    if (!message.has_graph()) file_error(file_.path() + ": the model has no graph");
    model.graph = graph(message.graph(), &places);
    for (const auto& one : message.functions()) model.functions.push_back(function(one));
    model.external_files = tensors_.external_files();
  }

 private:
  Graph graph(const proto::GraphProto& message, const RawPlaces* places = nullptr) {
    Graph graph;
    graph.name = message.name();
    graph.doc = message.doc_string();
    for (const auto& one : message.node()) graph.nodes.push_back(node(one));
    for (int i = 0; i < message.initializer_size(); ++i) {
      const RawBytes* raw = places ? &(*places)[static_cast<std::size_t>(i)] : nullptr;
      graph.initializers.push_back(
          tensor(message.initializer(i), raw && raw->size > 0 ? raw : nullptr));
    }
    for (const auto& one : message.sparse_initializer())
      graph.sparse_initializers.push_back(one.values().name());
    for (const auto& one : message.input()) graph.inputs.push_back(value_info(one));
    for (const auto& one : message.output()) graph.outputs.push_back(value_info(one));
    for (const auto& one : message.value_info()) graph.values.push_back(value_info(one));
    for (const auto& one : message.quantization_annotation())
      for (const auto& property : one.quant_parameter_tensor_names())
        graph.annotations[one.tensor_name()].emplace_back(property.key(), property.value());
    graph.metadata = metadata_of(message);
    return graph;
  }

  Tensor tensor(const proto::TensorProto& message, const RawBytes* raw = nullptr) {
    Tensor tensor = tensors_.read(message, raw);
    tensor.metadata = metadata_of(message);
    return tensor;
  }

  Node node(const proto::NodeProto& message) {
    Node node{message.name(),
              message.op_type(),
              message.domain(),
              overload_of(message),
              strings_of(message.input()),
              strings_of(message.output()),
              {},
              message.doc_string(),
              metadata_of(message)};
    if (node.domain == "ai.onnx") node.domain.clear();
    for (const auto& one : message.attribute()) node.attributes.push_back(attribute(one));
    return node;
  }

  Attribute attribute(const proto::AttributeProto& message) {
    return {message.name(), attribute_value(message), message.ref_attr_name(),
            message.doc_string()};
  }

  Attribute::Value attribute_value(const proto::AttributeProto& message) {
    switch (message.type()) {
      case proto::AttributeProto_AttributeType_FLOAT:
        return static_cast<double>(message.f());
      case proto::AttributeProto_AttributeType_INT:
        return static_cast<std::int64_t>(message.i());
      case proto::AttributeProto_AttributeType_STRING:
        return message.s();
      case proto::AttributeProto_AttributeType_TENSOR:
        return tensor(message.t());
      case proto::AttributeProto_AttributeType_GRAPH:
        return std::make_shared<const Graph>(graph(message.g()));
      case proto::AttributeProto_AttributeType_FLOATS:
        return Attribute::Floats(message.floats().begin(), message.floats().end());
      case proto::AttributeProto_AttributeType_INTS:
        return Attribute::Ints(message.ints().begin(), message.ints().end());
      case proto::AttributeProto_AttributeType_STRINGS:
        return strings_of(message.strings());
      default:
        return {};
    }
  }

  ValueInfo value_info(const proto::ValueInfoProto& message) {
    ValueInfo info;
    info.name = message.name();
    info.doc = message.doc_string();
    info.metadata = metadata_of(message);
    const proto::TypeProto& type = message.type();
    info.kind = kind_of(type);
    if (!type.has_tensor_type()) return info;
    info.type = static_cast<ElementType>(type.tensor_type().elem_type());
    if (!type.tensor_type().has_shape()) return info;
    info.shape.emplace();
    for (const auto& dim : type.tensor_type().shape().dim()) {
      Dimension dimension;
      // Some exporters write -1 for a size that varies.
      if (dim.has_dim_value() && dim.dim_value() >= 0) dimension.size = dim.dim_value();
      if (dim.has_dim_param()) dimension.symbol = dim.dim_param();
      info.shape->push_back(std::move(dimension));
    }
    return info;
  }

  static std::string kind_of(const proto::TypeProto& type) {
    switch (type.value_case()) {
      case proto::TypeProto::kTensorType:
        return "tensor";
      case proto::TypeProto::kSequenceType:
        return "sequence";
      case proto::TypeProto::kMapType:
        return "map";
      case proto::TypeProto::kOptionalType:
        return "optional";
      case proto::TypeProto::kSparseTensorType:
        return "sparse_tensor";
      default:
        return "";
    }
  }

  Function function(const proto::FunctionProto& message) {
    Function function;
    function.domain = message.domain();
    function.name = message.name();
    function.overload = overload_of(message);
    function.doc = message.doc_string();
    function.inputs = strings_of(message.input());
    function.outputs = strings_of(message.output());
    function.attributes = strings_of(message.attribute());
    for (const auto& one : message.attribute_proto()) function.defaults.push_back(attribute(one));
    for (const auto& one : message.node()) function.nodes.push_back(node(one));
    function.opsets = opsets_of(message.opset_import());
    return function;
  }

  const FileMap& file_;
  TensorReader tensors_;
};

void read(const std::shared_ptr<const FileMap>& file, Model& model) {
  const std::string& path = file->path();
  if (file->bytes().size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    file_error(path +
               ": a protobuf message has at most 2 GiB, so this is no ONNX file; large "
               "models keep their tensors in external data");
  google::protobuf::ArenaOptions options;
  options.block_alloc = allocate;
  options.block_dealloc = release;
  options.max_block_size = std::size_t{1} << 20;
  google::protobuf::Arena arena(options);
  auto* message = google::protobuf::Arena::CreateMessage<proto::ModelProto>(&arena);
  RawPlaces places;
  try {
    if (!parse_model(file->bytes(), *message, places))
      file_error(path + ": this is not an ONNX model, or it is damaged: protobuf cannot parse it");
  } catch (const std::bad_alloc&) {
    file_error(path + ": its messages need more than 512 MiB of memory, so it is not read");
  }
  Reader(file).model(*message, places, model);
}

}  // namespace
}  // namespace mase::onnx

extern "C" void mase_read_onnx(const std::shared_ptr<const mase::FileMap>& file,
                               mase::onnx::Model& model) {
  mase::onnx::read(file, model);
}
