// SPDX-License-Identifier: Apache-2.0
// Writes tensors in the order of the package: wide elements come first, so that all are aligned.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/tree.hpp"
#include "safetensors/elements.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::safetensors {
namespace {

const ElementRow* row_of(DType dtype) {
  return &*std::ranges::find(element_rows(), dtype, &ElementRow::dtype);
}

std::vector<TensorType> in_order_of_file(const std::map<std::string, Array>& tensors) {
  std::vector<TensorType> types;
  for (const auto& [name, array] : tensors) types.push_back({name, array.dtype(), array.shape()});
  std::ranges::stable_sort(types, std::less<>(),
                           [](const TensorType& type) { return row_of(type.dtype); });
  return types;
}

std::string header_text(const std::vector<TensorType>& tensors) {
  Tree header = Tree::dict();
  header["__metadata__"]["format"] = "pt";
  std::size_t offset = 0;
  for (const TensorType& tensor : tensors) {
    Tree entry = Tree::dict();
    entry["dtype"] = row_of(tensor.dtype)->name;
    entry["shape"] = Tree::list_of(tensor.shape);
    entry["data_offsets"] = Tree::list_of(std::vector{offset, offset + tensor.byte_size()});
    offset += tensor.byte_size();
    header[tensor.name] = std::move(entry);
  }
  std::string text = to_json(header, -1);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::string length_text(std::uint64_t length) {
  std::string text;
  for (int i = 0; i < 8; ++i, length >>= 8) text += static_cast<char>(length & 0xff);
  return text;
}

}  // namespace

std::size_t TensorType::byte_size() const {
  return static_cast<std::size_t>(numel(shape)) * size_of(dtype);
}

void write_stream(const std::string& path, const std::vector<TensorType>& tensors,
                  const std::function<void(const TensorType&, const Sink&)>& values) {
  const std::string header = header_text(tensors);
  write_file_with(path, [&](const std::string& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out << length_text(header.size()) << header;
    for (const TensorType& tensor : tensors) {
      std::size_t rest = tensor.byte_size();
      values(tensor, [&](const std::byte* bytes, std::size_t count) {
        MASE_CHECK(count <= rest, "a tensor has more bytes than its type");
        rest -= count;
        out.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(count));
        if (!out) file_error("cannot write '" + path + "'");
      });
      MASE_CHECK(rest == 0, "a tensor has fewer bytes than its type");
    }
    out.close();
    if (!out) file_error("cannot write '" + path + "'");
  });
}

void write_tensors(const std::string& path, const std::map<std::string, Array>& tensors) {
  write_stream(path, in_order_of_file(tensors), [&](const TensorType& tensor, const Sink& sink) {
    const Array& array = tensors.at(tensor.name);
    sink(array.bytes(), array.byte_size());
  });
}

}  // namespace mase::safetensors
