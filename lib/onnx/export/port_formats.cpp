// SPDX-License-Identifier: Apache-2.0
// The formats of a node's ports, in the dialect of the export.
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "ir/masks.hpp"
#include "ir/op_table.hpp"
#include "onnx/export/dialects.hpp"
#include "onnx/export/exporter.hpp"
#include "onnx/export/integer_codes.hpp"

namespace mase::onnx {
namespace {

/// The step of products of data and weights.
std::optional<double> sum_step(const std::map<std::string, formats::Format>& formats) {
  const auto data = formats.find("data_in"), weight = formats.find("weight");
  if (data == formats.end() || weight == formats.end()) return std::nullopt;
  const auto a = fixed_point_of(data->second), b = fixed_point_of(weight->second);
  return a && b ? std::optional(a->step() * b->step()) : std::nullopt;
}

}  // namespace

std::string NodeWriter::rounded(std::string_view argument, const std::string& name,
                                ir::NodeId source, const std::string* path) {
  if (!exporter_.dialect() || node_.formats.empty()) return name;
  if (!path) path = graph().tensor_of(node_, argument);
  std::string port;
  for (const ir::Port& one : ir::ports(graph(), node_))
    if (one.argument == argument && node_.formats.contains(one.name)) port = one.name;
  if (port.empty()) return name;
  ports_.insert(port);
  const DType type =
      path ? graph().tensors.at(*path).value.dtype() : graph().node(source).info.dtype;
  if (type != DType::float32) return name;
  const std::string key = port + " " + name;
  if (const auto known = rounded_.find(key); known != rounded_.end()) return known->second;
  const std::string result = path ? rounded_tensor(port, *path) : rounded_value(port, name, source);
  rounded_.emplace(key, result);
  return result;
}

std::string NodeWriter::rounded_tensor(const std::string& port, const std::string& path) {
  const formats::Format& format = node_.formats.at(port);
  const PortTensor tensor{path, graph().tensors.at(path).value, port == "bias",
                          sum_step(node_.formats)};
  try {
    return exporter_.dialect()->tensor(*this, tensor, format);
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    exporter_.lose(node_.name + "." + port, format, error.what());
  }
  return initializer(path + "_quantized", ElementType::float32,
                     rounded_values(tensor.value, format));
}

/// Masks stay -inf (formats.md, "Masks of attention").
std::string NodeWriter::rounded_value(const std::string& port, const std::string& x,
                                      ir::NodeId source) {
  const formats::Format& format = node_.formats.at(port);
  try {
    const std::string result = exporter_.dialect()->value(*this, x, format);
    if (!exporter_.masks().in(source)) return result;
    const std::string hidden = write("LessOrEqual", {x, scalar(ir::mask_bound, DType::float32)});
    const double lowest = -std::numeric_limits<double>::infinity();
    return write("Where", {hidden, scalar(lowest, DType::float32), result});
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported) throw;
    exporter_.lose(node_.name + "." + port, format, error.what());
  }
  return x;
}

void NodeWriter::finish_formats() {
  if (!exporter_.dialect()) return;
  if (node_.formats.contains("data_out")) {
    ports_.insert("data_out");
    const Names& results = exporter_.values(node_.id);
    if (node_.info.is_tensor() && node_.info.dtype == DType::float32 && results.size() == 1)
      exporter_.define(node_.id, {rounded_value("data_out", Names(results)[0], node_.id)});
  }
  for (const ir::Port& port : ir::ports(graph(), node_)) {
    const auto format = node_.formats.find(port.name);
    if (format == node_.formats.end() || !ports_.insert(port.name).second) continue;
    exporter_.lose(node_.name + "." + port.name, format->second,
                   "the operators of ONNX compute this value themselves");
  }
}

}  // namespace mase::onnx
