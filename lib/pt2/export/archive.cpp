// SPDX-License-Identifier: Apache-2.0
// The zip archive of an exported program, as torch 2.8 and later lay it out.
#include <deque>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/zip_directory.hpp"
#include "base/zip_image.hpp"
#include "pt2/export.hpp"
#include "pt2/export/exporter.hpp"

namespace mase::pt2 {
namespace {

/// Entries in one folder, whose name PyTorch takes from the archive.
class Archive {
 public:
  void add(const std::string& name, std::string_view bytes) {
    image_.add("model/" + name, bytes, crc_of(bytes));
  }
  void add_text(const std::string& name, std::string text) {
    add(name, texts_.emplace_back(std::move(text)));
  }
  void write(const std::string& path) {
    image_.finish();
    std::string bytes(image_.size(), '\0');
    image_.read(0, bytes.data(), bytes.size());
    write_file(path, bytes);
  }

 private:
  ZipImage image_;
  std::deque<std::string> texts_;  ///< a deque: views of its strings stay valid
};

Tree config_entry(const std::string& file, const ir::Tensor& tensor) {
  const bool grad = tensor.is_parameter && tensor.requires_grad;
  return Tree(
      Tree::Dict{{"path_name", file},
                 {"is_param", tensor.is_parameter},
                 {"use_pickle", false},
                 {"tensor_meta", tensor_meta(tensor.value.dtype(), tensor.value.shape(), grad)}});
}

/// A tied tensor is one entry of the archive under several paths.
void add_weights(const ir::Graph& graph, Archive& archive) {
  Tree config = Tree::dict();
  std::size_t count = 0;
  for (const std::string& path : graph.tensor_order) {
    const auto found = graph.tensors.find(path);
    if (found == graph.tensors.end()) continue;
    const ir::Tensor& tensor = found->second;
    const std::string file = "weight_" + std::to_string(count++);
    archive.add("data/weights/" + file,
                {reinterpret_cast<const char*>(tensor.value.bytes()), tensor.value.byte_size()});
    for (const std::string& name : ir::names_of(path, tensor))
      config[name] = config_entry(file, tensor);
  }
  archive.add_text("data/weights/model_weights_config.json",
                   to_json(union_tree("config", std::move(config)), -1));
}

void refuse_formats(const ir::Graph& graph) {
  std::vector<std::string> ports;
  for (const ir::NodeId id : graph.order())
    for (const auto& [port, format] : graph.node(id).formats)
      ports.push_back("  " + graph.node(id).name + "." + port + " (" + format.short_text() + ")");
  if (!ports.empty())
    unsupported_error("an exported program cannot say " + counted(ports.size(), "format") +
                      " of the graph:\n" + join(ports, "\n") + "\n--format float leaves them out");
}

}  // namespace

ExportNotes export_program(const ir::Graph& graph, const std::string& path) {
  refuse_formats(graph);
  Exporter exporter(graph);
  const std::string document = to_json(exporter.run(), -1);
  Archive archive;
  archive.add_text("archive_format", "pt2");
  archive.add_text("archive_version", "0");
  archive.add_text("byteorder", "little");
  archive.add_text(".data/version", "6\n");
  archive.add("models/model.json", document);
  add_weights(graph, archive);
  archive.add_text("data/constants/model_constants_config.json", "{\"config\": {}}");
  archive.add_text("data/sample_inputs/model.pt", "");
  archive.write(path);
  return {exporter.nodes(), graph.tensors.size(), exporter.any_batch()};
}

}  // namespace mase::pt2
