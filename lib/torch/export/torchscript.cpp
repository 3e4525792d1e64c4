// SPDX-License-Identifier: Apache-2.0
// Exports a graph as a TorchScript archive: writes the top-level forward, and saves the file.
#include "torch/export/torchscript.hpp"

#include <torch/csrc/jit/api/module.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "ir/leaf_bodies.hpp"
#include "ir/masks.hpp"
#include "torch/export/formats.hpp"
#include "torch/export/leaf.hpp"
#include "torch/export/tree.hpp"

namespace mase::libtorch {

namespace {

namespace jit = torch::jit;
using Operands = MethodBuilder::Operands;

c10::TypePtr type_of(const ir::ValueInfo& info) {
  using Kind = ir::ValueInfo::Kind;
  switch (info.kind) {
    case Kind::integer:
      return c10::IntType::get();
    case Kind::number:
      return c10::FloatType::get();
    case Kind::boolean:
      return c10::BoolType::get();
    case Kind::string:
      return c10::StringType::get();
    default:
      return c10::TensorType::get();
  }
}

/// A name that TorchScript accepts; it must not be a number.
std::string debug_name(const std::string& name) {
  return std::isdigit(static_cast<unsigned char>(name.front())) ? "_" + name : name;
}

std::set<std::string> quantized_modules(const ir::Graph& graph) {
  std::set<std::string> paths;
  for (const ir::NodeId id : graph.order()) {
    const ir::Node& node = graph.node(id);
    if (node.kind == ir::NodeKind::call_module && !node.formats.empty()) paths.insert(node.target);
  }
  return paths;
}

class Exporter {
 public:
  explicit Exporter(const ir::Graph& graph)
      : graph_(ir::without_leaf_bodies(graph)),
        masks_(graph_),
        tree_(build_module_tree(graph_, quantized_modules(graph_))),
        leaves_(graph_, masks_, tree_),
        top_(tree_.modules.at("")) {}

  jit::Module build() {
    for (const ir::NodeId id : graph_.order()) {
      const ir::Node& node = graph_.node(id);
      try {
        emit(node);
      } catch (const Error& error) {
        throw Error(error.fault(), "export of node '" + node.name + "': " + error.what());
      } catch (const std::exception& error) {
        throw Error(Fault::internal,
                    "export of node '" + node.name + "' (" + node.op + "): " + error.what());
      }
    }
    return tree_.modules.at("");
  }

 private:
  void emit(const ir::Node& node) {
    if (node.kind == ir::NodeKind::output) {
      top_.finish("forward", quantize_output(top_, node, result(node), false));
      return;
    }
    jit::Value* value = quantize_output(top_, node, raw_value(node), masks_.in(node.id));
    values_[node.id] = value;
    // Inputs keep the name of their placeholder, even if a node only passes them on.
    if (value->node()->kind() != c10::prim::Param) value->setDebugName(debug_name(node.name));
  }

  /// The value of a node before the format of its data_out is applied.
  jit::Value* raw_value(const ir::Node& node) {
    switch (node.kind) {
      case ir::NodeKind::placeholder:
        return top_.add_input(node.target, type_of(node.info));
      case ir::NodeKind::get_attr:
        return top_.tensor(node.target, graph_.tensors.at(node.target),
                           ir::code_stem(graph_, node.target));
      case ir::NodeKind::call_module:
        return leaves_.call(node, top_, lookup());
      default:
        return call_operator(node);
    }
  }

  jit::Value* result(const ir::Node& node) {
    const PortFormats formats(graph_, node);
    const ir::Argument& value = node.args.at(0);
    return top_.lower_free(value.value, lookup(formats, value.name));
  }

  MethodBuilder::NodeLookup lookup() {
    return [this](ir::NodeId id) { return values_.at(id); };
  }

  /// Like `lookup`, but quantizes the tensors of one argument.
  MethodBuilder::NodeLookup lookup(const PortFormats& formats, const std::string& argument) {
    return [this, formats, argument](ir::NodeId id) {
      const formats::Format* format = formats.find(argument, id);
      jit::Value* value = values_.at(id);
      const ir::ValueInfo& info = graph_.node(id).info;
      const bool quantized = format != nullptr && takes_format(info) && !is_coded(id);
      return quantized ? top_.quantize(value, *format, rank_of(info), masks_.in(id)) : value;
    };
  }

  bool is_coded(ir::NodeId id) const {
    const ir::Node& node = graph_.node(id);
    return node.kind == ir::NodeKind::get_attr && graph_.tensors.at(node.target).coded;
  }

  jit::Value* call_operator(const ir::Node& node) {
    const PortFormats formats(graph_, node);
    if (node.op == "mase::getitem") {
      const ir::Argument& base = node.args.at(0);
      return top_.get_item(top_.lower_free(base.value, lookup(formats, base.name)),
                           node.args.at(1).value, lookup());
    }
    Operands operands;
    std::map<std::string, jit::Value*> given;
    for (const ir::Argument& argument : node.args)
      operands.emplace_back(
          argument.name, [this, &argument, &given,
                          find_node = lookup(formats, argument.name)](const c10::TypePtr& type) {
            return given[argument.name] = top_.lower(argument.value, type, find_node);
          });
    jit::Value* value = top_.call(node.op, operands);
    return masks_.hide(node) ? top_.hide_masked(given.at(node.args.front().name), value) : value;
  }

  const ir::Graph graph_;  ///< without opaque leaves
  const ir::Masks masks_;
  ModuleTree tree_;
  LeafMethods leaves_;
  MethodBuilder top_;
  std::map<ir::NodeId, jit::Value*> values_;
};

/// Writes to a file. After a failure it ignores further output, because PyTorch's writer would end
/// the process; check() reports the failure.
class PatientBuffer : public std::streambuf {
 public:
  explicit PatientBuffer(const std::string& name) {
    errno = 0;
    if (file_.open(name, std::ios::binary | std::ios::out) == nullptr) note();
  }
  /// Error(Fault::file) that names `path` if not all bytes have been written.
  void check(const std::string& path) {
    if (code_ == 0 && file_.close() == nullptr) note();
    if (code_ != 0) file_error("cannot write '" + path + "': " + std::strerror(code_));
  }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (code_ == 0 && file_.sputn(bytes, count) != count) note();
    return count;
  }
  int_type overflow(int_type byte) override {
    const char one = traits_type::to_char_type(byte);
    xsputn(&one, 1);
    return traits_type::not_eof(byte);
  }
  void note() { code_ = errno != 0 ? errno : EIO; }

  std::filebuf file_;
  int code_ = 0;
};

/// Saves through a stream, so that the archive's root folder is a constant instead of the name of
/// the file, and the bytes do not depend on the path.
void save(const jit::Module& module, const std::string& path,
          const std::map<std::string, std::string>& extra_files) {
  write_file_with(path, [&](const std::string& name) {
    const jit::ExtraFilesMap extras(extra_files.begin(), extra_files.end());
    PatientBuffer buffer(name);
    std::ostream stream(&buffer);
    module.save(stream, extras);
    buffer.check(path);
  });
}

}  // namespace

void export_torchscript(const ir::Graph& graph, const std::string& path,
                        const std::map<std::string, std::string>& extra_files) {
  try {
    save(Exporter(graph).build(), path, extra_files);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Fault::internal, "export to '" + path + "' failed: " + error.what());
  }
}

}  // namespace mase::libtorch
