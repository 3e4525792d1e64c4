// SPDX-License-Identifier: Apache-2.0
// The structures of model.hpp to messages of onnx.proto.
#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "onnx/protobuf/proto.hpp"

namespace mase::onnx {
namespace {

template <class Message>
void set_metadata(const Properties& properties, Message& message) {
  if constexpr (requires { message.add_metadata_props(); })
    for (const auto& [name, value] : properties) {
      auto* entry = message.add_metadata_props();
      entry->set_key(name);
      entry->set_value(value);
    }
}

template <class Message>
void set_overload(const std::string& overload, Message& message) {
  if constexpr (requires { message.set_overload(overload); })
    if (!overload.empty()) message.set_overload(overload);
}

template <class Message>
void set_doc(const std::string& doc, Message& message) {
  if (!doc.empty()) message.set_doc_string(doc);
}

template <class Message>
void set_opsets(const std::map<std::string, std::int64_t>& opsets, Message& message) {
  for (const auto& [domain, version] : opsets) {
    auto* one = message.add_opset_import();
    one->set_domain(domain);
    one->set_version(version);
  }
}

void set_tensor(const Tensor& tensor, proto::TensorProto& message) {
  write_tensor(tensor, message);
  set_metadata(tensor.metadata, message);
}

void set_graph(const Graph& graph, proto::GraphProto& message);

/// Fills the field that belongs to the kind of an attribute's value.
struct SetAttribute {
  proto::AttributeProto& to;

  void operator()(std::monostate) const { MASE_CHECK(false, "an attribute without a value"); }
  void operator()(double value) const {
    to.set_type(proto::AttributeProto_AttributeType_FLOAT);
    to.set_f(static_cast<float>(value));
  }
  void operator()(std::int64_t value) const {
    to.set_type(proto::AttributeProto_AttributeType_INT);
    to.set_i(value);
  }
  void operator()(const std::string& value) const {
    to.set_type(proto::AttributeProto_AttributeType_STRING);
    to.set_s(value);
  }
  void operator()(const Tensor& value) const {
    to.set_type(proto::AttributeProto_AttributeType_TENSOR);
    set_tensor(value, *to.mutable_t());
  }
  void operator()(const std::shared_ptr<const Graph>& value) const {
    to.set_type(proto::AttributeProto_AttributeType_GRAPH);
    set_graph(*value, *to.mutable_g());
  }
  void operator()(const Attribute::Floats& values) const {
    to.set_type(proto::AttributeProto_AttributeType_FLOATS);
    for (const double value : values) to.add_floats(static_cast<float>(value));
  }
  void operator()(const Attribute::Ints& values) const {
    to.set_type(proto::AttributeProto_AttributeType_INTS);
    for (const std::int64_t value : values) to.add_ints(value);
  }
  void operator()(const Attribute::Strings& values) const {
    to.set_type(proto::AttributeProto_AttributeType_STRINGS);
    for (const std::string& value : values) to.add_strings(value);
  }
};

void set_attribute(const Attribute& attribute, proto::AttributeProto& message) {
  message.set_name(attribute.name);
  if (!attribute.reference.empty()) message.set_ref_attr_name(attribute.reference);
  set_doc(attribute.doc, message);
  std::visit(SetAttribute{message}, attribute.value);
}

void set_node(const Node& node, proto::NodeProto& message) {
  message.set_name(node.name);
  message.set_op_type(node.op);
  if (!node.domain.empty()) message.set_domain(node.domain);
  set_overload(node.overload, message);
  for (const std::string& input : node.inputs) message.add_input(input);
  for (const std::string& output : node.outputs) message.add_output(output);
  for (const Attribute& one : node.attributes) set_attribute(one, *message.add_attribute());
  set_doc(node.doc, message);
  set_metadata(node.metadata, message);
}

void set_value(const ValueInfo& info, proto::ValueInfoProto& message) {
  MASE_CHECK(info.kind == "tensor", "only tensors are written");
  message.set_name(info.name);
  set_doc(info.doc, message);
  set_metadata(info.metadata, message);
  auto* type = message.mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<std::int32_t>(info.type));
  if (!info.shape) return;
  auto* shape = type->mutable_shape();
  for (const Dimension& dimension : *info.shape) {
    auto* dim = shape->add_dim();
    if (dimension.size)
      dim->set_dim_value(*dimension.size);
    else if (!dimension.symbol.empty())
      dim->set_dim_param(dimension.symbol);
  }
}

void set_graph(const Graph& graph, proto::GraphProto& message) {
  message.set_name(graph.name);
  set_doc(graph.doc, message);
  for (const Node& node : graph.nodes) set_node(node, *message.add_node());
  for (const Tensor& tensor : graph.initializers) set_tensor(tensor, *message.add_initializer());
  for (const ValueInfo& info : graph.inputs) set_value(info, *message.add_input());
  for (const ValueInfo& info : graph.outputs) set_value(info, *message.add_output());
  for (const ValueInfo& info : graph.values) set_value(info, *message.add_value_info());
  for (const auto& [name, properties] : graph.annotations) {
    auto& annotation = *message.add_quantization_annotation();
    annotation.set_tensor_name(name);
    for (const auto& [key, value] : properties) {
      auto& entry = *annotation.add_quant_parameter_tensor_names();
      entry.set_key(key);
      entry.set_value(value);
    }
  }
  set_metadata(graph.metadata, message);
}

void set_function(const Function& function, proto::FunctionProto& message) {
  message.set_domain(function.domain);
  message.set_name(function.name);
  set_overload(function.overload, message);
  set_doc(function.doc, message);
  for (const std::string& one : function.inputs) message.add_input(one);
  for (const std::string& one : function.outputs) message.add_output(one);
  for (const std::string& one : function.attributes) message.add_attribute(one);
  for (const Attribute& one : function.defaults) set_attribute(one, *message.add_attribute_proto());
  for (const Node& one : function.nodes) set_node(one, *message.add_node());
  set_opsets(function.opsets, message);
}

void set_model(const Model& model, proto::ModelProto& message) {
  message.set_ir_version(model.ir_version);
  set_opsets(model.opsets, message);
  message.set_producer_name(model.producer);
  message.set_producer_version(model.producer_version);
  if (!model.domain.empty()) message.set_domain(model.domain);
  set_doc(model.doc, message);
  if (model.version != 0) message.set_model_version(model.version);
  set_metadata(model.metadata, message);
  set_graph(model.graph, *message.mutable_graph());
  for (const Function& one : model.functions) set_function(one, *message.add_functions());
}

/// The bytes of all tensors of a graph, without those of nodes.
std::size_t tensor_bytes(const Graph& graph) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : graph.initializers) bytes += tensor.value.byte_size();
  return bytes;
}

void write(const Model& model, const std::string& path, std::string& bytes) {
  proto::ModelProto message;
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  const auto too_large = [&] {
    file_error(path + ": the model would pass the 2 GiB that a protobuf message may have");
  };
  if (tensor_bytes(model.graph) > most) too_large();
  set_model(model, message);
  if (message.ByteSizeLong() > most) too_large();
  MASE_CHECK(message.SerializeToString(&bytes), "protobuf did not write a model");
}

}  // namespace
}  // namespace mase::onnx

extern "C" void mase_write_onnx(const mase::onnx::Model& model, const std::string& path,
                                std::string& bytes) {
  mase::onnx::write(model, path, bytes);
}
