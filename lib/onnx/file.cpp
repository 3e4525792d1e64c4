// SPDX-License-Identifier: Apache-2.0
// ONNX files through the library that knows protobuf. Most runs of the program read no ONNX file,
// so it is opened on first use.
#include "base/file.hpp"
#include <array>
#include <fstream>

#include "base/error.hpp"
#include "base/file_map.hpp"
#include "base/library.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {
namespace {

void* in_protobuf(const char* symbol) {
  return open_library("libmase_protobuf.so", symbol, LibraryScope::own, "protobuf",
                      "libprotobuf-dev");
}

}  // namespace

Model read_model(const std::string& path) {
  using Read = void (*)(const std::shared_ptr<const FileMap>& file, Model& model);
  static const auto read = reinterpret_cast<Read>(in_protobuf("mase_read_onnx"));
  const auto file = FileMap::open(path);
  if (!file) file_error(path + ": the file is empty, or not a regular file");
  Model model;
  read(file, model);
  return model;
}

void write_model(const Model& model, const std::string& path) {
  using Write = void (*)(const Model& model, const std::string& path, std::string& bytes);
  static const auto write = reinterpret_cast<Write>(in_protobuf("mase_write_onnx"));
  std::string bytes;
  write(model, path, bytes);
  write_file(path, bytes);
}

std::vector<std::string> external_files(const std::string& path) {
  if (!file_exists(path) || !is_onnx(path)) return {};
  try {
    return read_model(path).external_files;
  } catch (const Error&) {
    return {};  // whoever needs the model reports the error
  }
}

/// The first field of a model is its IR version: a tag and a small number, which begin no zip file,
/// array or text.
bool is_onnx(const std::string& path) {
  if (path.ends_with(".onnx")) return true;
  std::ifstream file(path, std::ios::binary);
  std::array<char, 3> first{};
  if (!file.read(first.data(), first.size())) return false;
  constexpr char ir_version_tag = 0x08, newest = 64, length_delimited = 2, fields = 0x7;
  return first[0] == ir_version_tag && first[1] > 0 && first[1] < newest &&
         (first[2] & fields) == length_delimited;
}

}  // namespace mase::onnx
