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

/// A folder of tensors, and the table of their paths.
struct Folder {
  std::string path, stem, table;
  bool constants;
};
const Folder folders[] = {{"data/weights/", "weight_", "model_weights_config.json", false},
                          {"data/constants/", "tensor_", "model_constants_config.json", true}};

/// A tied tensor is one entry of the archive under several paths.
void add_values(const Expanded& expanded, const Folder& folder, Archive& archive) {
  Tree config = Tree::dict();
  std::size_t count = 0;
  for (const std::string& path : expanded.graph.tensor_order) {
    const auto found = expanded.graph.tensors.find(path);
    if (found == expanded.graph.tensors.end() ||
        expanded.constants.contains(path) != folder.constants)
      continue;
    const ir::Tensor& tensor = found->second;
    const std::string file = folder.stem + std::to_string(count++);
    archive.add(folder.path + file,
                {reinterpret_cast<const char*>(tensor.value.bytes()), tensor.value.byte_size()});
    for (const std::string& name : ir::names_of(path, tensor))
      config[name] = config_entry(file, tensor);
  }
  archive.add_text(folder.path + folder.table,
                   to_json(union_tree("config", std::move(config)), -1));
}

void refuse_losses(const std::vector<std::string>& losses) {
  if (!losses.empty())
    unsupported_error("an exported program cannot say " + counted(losses.size(), "format") +
                      " of the graph:\n  " + join(losses, "\n  ") +
                      "\n--allow-loss leaves them out: tensors have rounded values, and what is "
                      "computed stays float");
}

}  // namespace

ExportNotes export_program(const ir::Graph& graph, const std::string& path, bool allow_loss) {
  Exporter exporter(graph);
  const std::string document = to_json(exporter.run(), -1);
  if (!allow_loss) refuse_losses(exporter.expanded().losses);
  Archive archive;
  archive.add_text("archive_format", "pt2");
  archive.add_text("archive_version", "0");
  archive.add_text("byteorder", "little");
  archive.add_text(".data/version", "6\n");
  archive.add("models/model.json", document);
  for (const Folder& folder : folders) add_values(exporter.expanded(), folder, archive);
  archive.add_text("data/sample_inputs/model.pt", "");
  archive.write(path);
  return {exporter.nodes(), graph.tensors.size(), exporter.free_sizes(),
          exporter.expanded().losses};
}

}  // namespace mase::pt2
