// SPDX-License-Identifier: Apache-2.0
// `mase export` writes the tensors of a model as .npy files: the stored values, the quantized ones
// and the integer codes.
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "checkpoint/quantized_tensors.hpp"
#include "driver/commands/commands.hpp"
#include "driver/encoded_files.hpp"
#include "driver/loading/load_model.hpp"
#include "driver/output.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;
using checkpoint::QuantizedTensor;

/// Chooses unique names for files in a folder; no name leads out of it.
class FileNames {
 public:
  explicit FileNames(std::string folder) : folder_(std::move(folder)) {}

  /// "seq.0.weight" → FOLDER/seq.0.weight.npy. Characters other than letters, digits, '_', '-' and
  /// '.' become '_'.
  std::string path_of(const std::string& name) {
    std::string safe;
    for (const char c : name)
      safe += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
    std::string file = safe;
    for (int number = 1; !taken_.insert(file).second; ++number)
      file = safe + "_" + std::to_string(number);
    return (fs::path(folder_) / (file + ".npy")).string();
  }

 private:
  std::string folder_;
  std::set<std::string> taken_;
};

void require_free(const ExportRequest& request) {
  std::error_code error;
  if (request.overwrite || !fs::exists(request.folder, error)) return;
  if (!fs::is_directory(request.folder, error) || !fs::is_empty(request.folder, error))
    config_error("'" + request.folder +
                 "' exists and is not an empty folder; name another, or give --overwrite");
}

/// Writes the quantized values of a port and, if its format has codes, the codes.
Tree write_quantized(const QuantizedTensor& tensor, const Array& value, FileNames& names) {
  Tree row = Tree::dict();
  row["node"] = tensor.node;
  row["port"] = tensor.port;
  row["tensor"] = tensor.path;
  row["format"] = tensor.format.text();
  row["shape"] = Tree::list_of(value.shape());
  const Array floats = value.to_float32();
  Array quantized(DType::float32, floats.shape());
  const formats::Format format = tensor.format.deterministic();
  format.quantize(floats.span<float>(), quantized.mutable_span<float>(), floats.shape());
  const std::string name = tensor.node + "." + tensor.port;
  const std::string values = names.path_of(name + ".values");
  write_npy(values, quantized);
  row["values"] = fs::path(values).filename().string();
  try {
    for (const EncodedFile& file : encoded_files(format, floats, names.path_of(name + ".codes"))) {
      write_npy(file.path, file.value);
      row[file.key] = fs::path(file.path).filename().string();
    }
  } catch (const Error& error) {  // a format without codes
    if (error.fault() != Fault::unsupported) throw;
  }
  return row;
}

Tree write_tensor(const std::string& path, const Array& value, FileNames& names) {
  Tree row = Tree::dict();
  const std::string file = names.path_of(path);
  write_npy(file, value);
  row["tensor"] = path;
  row["dtype"] = dtype_name(value.dtype());
  row["shape"] = Tree::list_of(value.shape());
  row["file"] = fs::path(file).filename().string();
  return row;
}

}  // namespace

int export_tensors(const ExportRequest& request) {
  require_free(request);
  sandbox::may_write(request.folder);
  ModelRequest wanted;
  wanted.model = request.model;
  wanted.input = request.input;
  const ir::Graph graph = load_model(wanted).graph;
  make_folder(request.folder);
  FileNames names(request.folder);
  Output output(request.json);
  Tree& document = output.document();
  for (const char* list : {"tensors", "quantized"}) document[list] = Tree::list();
  for (const std::string& path : graph.tensor_order)
    document["tensors"].push_back(write_tensor(path, graph.tensors.at(path).value, names));
  for (const QuantizedTensor& tensor : checkpoint::quantized_tensors(graph))
    document["quantized"].push_back(
        write_quantized(tensor, graph.tensors.at(tensor.path).value, names));
  const std::string index = (fs::path(request.folder) / "tensors.json").string();
  write_file(index, to_json(document) + "\n");
  output.text(request.folder + ": " + std::to_string(document["tensors"].size()) + " tensors, " +
              std::to_string(document["quantized"].size()) + " for ports with a format; " + index +
              " lists the files");
  output.finish();
  return 0;
}

}  // namespace mase::driver
