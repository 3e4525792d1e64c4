// SPDX-License-Identifier: Apache-2.0
// The child returns text (the text form of the graph, or JSON), followed by the bytes of tensors.
#include "backend/isolated.hpp"

#include <algorithm>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/limits.hpp"
#include "ir/text.hpp"
#include "sandbox/child.hpp"

namespace mase::backend {
namespace {

/// Limit for reading a model. This usually takes seconds; long loops may legitimately take more.
constexpr double import_seconds = 600;

void append_text(sandbox::SharedFile& file, const std::string& text) {
  const std::uint64_t size = text.size();
  file.append(std::as_bytes(std::span(&size, 1)));
  file.append(std::as_bytes(std::span(text)));
}

std::string take_text(sandbox::SharedFile& file) {
  std::uint64_t size = 0;
  file.take(std::as_writable_bytes(std::span(&size, 1)));
  if (size > file.left()) file_error("the result of the child process is incomplete");
  std::string text(size, '\0');
  file.take(std::as_writable_bytes(std::span(text)));
  return text;
}

void append_tensors(sandbox::SharedFile& file, const ir::Graph& graph) {
  for (const auto& [path, tensor] : graph.tensors)
    file.append({tensor.value.bytes(), tensor.value.byte_size()});
}

void take_tensors(sandbox::SharedFile& file, ir::Graph& graph) {
  for (auto& [path, tensor] : graph.tensors)
    file.take({tensor.value.mutable_bytes(), tensor.value.byte_size()});
}

void append_graph(sandbox::SharedFile& file, const ir::Graph& graph) {
  append_text(file, ir::print(graph));
  append_tensors(file, graph);
}

/// Reads the graph and its tensors. Fails if the tensors in the text are not those that follow.
ir::Graph take_graph(sandbox::SharedFile& file, const std::string& origin) {
  const std::string text = take_text(file);
  ir::Graph graph = ir::parse(text, origin, file.left());
  take_tensors(file, graph);
  return graph;
}

void append_imported(sandbox::SharedFile& file, const Imported& imported) {
  append_graph(file, imported.graph);
  append_text(file, to_json(Tree::list_of(imported.notes), -1));
  Tree state = Tree::list();
  for (const Array& array : imported.state) {
    Tree entry = Tree::dict();
    entry["dtype"] = dtype_name(array.dtype());
    entry["shape"] = Tree::list_of(array.shape());
    state.push_back(std::move(entry));
  }
  append_text(file, to_json(state, -1));
  for (const Array& array : imported.state) file.append({array.bytes(), array.byte_size()});
}

Shape shape_of(const Tree& sizes) {
  Shape shape;
  for (const Tree& size : sizes.as_list()) shape.push_back(size.as_int());
  return shape;
}

Imported take_imported(sandbox::SharedFile& file, const std::string& origin) {
  Imported imported{take_graph(file, origin), {}, {}};
  const Tree notes = parse_json(take_text(file), origin);
  for (const Tree& note : notes.as_list()) imported.notes.push_back(note.as_string());
  const Tree state = parse_json(take_text(file), origin);
  for (const Tree& entry : state.as_list()) {
    const DType dtype = parse_dtype(entry.at("dtype").as_string());
    const Shape shape = shape_of(entry.at("shape"));
    if (static_cast<std::size_t>(numel(shape)) > file.left() / size_of(dtype))
      file_error("the result of the child process is incomplete");
    Array& array = imported.state.emplace_back(dtype, shape);
    file.take({array.mutable_bytes(), array.byte_size()});
  }
  return imported;
}

std::string signature_text(const Signature& signature) {
  Tree tree = Tree::dict();
  tree["inputs"] = Tree::list_of(signature.inputs);
  tree["state"] = Tree::list_of(signature.state);
  tree["other_types"] = Tree::dict();
  for (const auto& [name, type] : signature.other_types) tree["other_types"][name] = type;
  tree["parameters"] = Tree::list();
  for (const Shape& shape : signature.parameters)
    tree["parameters"].push_back(Tree::list_of(shape));
  return to_json(tree, -1);
}

Signature read_signature(const std::string& text, const std::string& origin) {
  const Tree tree = parse_json(text, origin);
  Signature signature;
  for (const Tree& name : tree.at("inputs").as_list()) signature.inputs.push_back(name.as_string());
  for (const auto& [name, type] : tree.at("other_types").as_dict())
    signature.other_types.emplace(name, type.as_string());
  for (const Tree& name : tree.at("state").as_list()) signature.state.push_back(name.as_string());
  for (const Tree& shape : tree.at("parameters").as_list())
    signature.parameters.push_back(shape_of(shape));
  return signature;
}

class Isolated : public Backend {
 public:
  explicit Isolated(Backend& inner) : inner_(inner) {}

  Tree info() const override { return inner_.info(); }
  void set_threads(int threads) override { inner_.set_threads(threads); }
  std::string set_device(const std::string& name, int local_rank) override {
    return inner_.set_device(name, local_rank);
  }

  Signature signature(const std::string& path, const std::string& submodule) override {
    sandbox::SharedFile result;
    read(path, [&] { append_text(result, signature_text(inner_.signature(path, submodule))); });
    return read_signature(take_text(result), path);
  }

  Imported import_model(const std::string& path, const ImportOptions& options) override {
    sandbox::SharedFile result;
    read(path, [&] { append_imported(result, inner_.import_model(path, options)); });
    return take_imported(result, path);
  }

  void load_state_dict(const std::string& path, ir::Graph& graph) override {
    sandbox::SharedFile result;
    read(path, [&] {
      inner_.load_state_dict(path, graph);
      append_tensors(result, graph);
    });
    take_tensors(result, graph);
  }

  std::unique_ptr<ir::Evaluator> evaluator(const ir::Graph& graph, ir::Level level) override {
    return inner_.evaluator(graph, level);
  }
  std::unique_ptr<ir::Evaluator> mesh_evaluator(const ir::Graph& part, const Ranks& ranks,
                                                const std::array<std::int64_t, 2>& mesh) override {
    return inner_.mesh_evaluator(part, ranks, mesh);
  }
  std::unique_ptr<Companions> meet(const Ranks& ranks) override { return inner_.meet(ranks); }
  void infer(ir::Graph& graph, const std::vector<Array>& inputs) override {
    inner_.infer(graph, inputs);
  }
  void export_model(const ir::Graph& graph, const std::string& path,
                    const std::map<std::string, std::string>& extra_files) override {
    inner_.export_model(graph, path, extra_files);
  }
  TrainResult train(ir::Graph& graph, const data::Dataset& data, const TrainOptions& options,
                    const TrainCallbacks& callbacks, const std::string& resume) override {
    return inner_.train(graph, data, options, callbacks, resume);
  }

 private:
  /// After a fork only the forking thread exists, so the child must not wait for other threads.
  template <class Work>
  void read(const std::string& path, Work&& work) {
    sandbox::run_in_child("reading " + path, has_time_limit() ? 0 : import_seconds, [&] {
      const Running running(Running::Kind::reading, path.c_str());
      inner_.set_threads(1);
      work();
    });
  }

  Backend& inner_;
};

}  // namespace

std::unique_ptr<Backend> isolated(Backend& inner) { return std::make_unique<Isolated>(inner); }

}  // namespace mase::backend
