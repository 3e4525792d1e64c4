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

using Entry = std::pair<std::string, Array>;

const ElementRow* row_of(const Array& array) {
  return &*std::ranges::find(element_rows(), array.dtype(), &ElementRow::dtype);
}

std::vector<Entry> in_order_of_file(const std::map<std::string, Array>& tensors) {
  std::vector<Entry> entries(tensors.begin(), tensors.end());
  std::ranges::stable_sort(entries, std::less<>(),
                           [](const Entry& entry) { return row_of(entry.second); });
  return entries;
}

std::string header_text(const std::vector<Entry>& entries) {
  Tree header = Tree::dict();
  header["__metadata__"]["format"] = "pt";
  std::size_t offset = 0;
  for (const auto& [name, array] : entries) {
    Tree entry = Tree::dict();
    entry["dtype"] = row_of(array)->name;
    entry["shape"] = Tree::list_of(array.shape());
    entry["data_offsets"] = Tree::list_of(std::vector{offset, offset + array.byte_size()});
    offset += array.byte_size();
    header[name] = std::move(entry);
  }
  std::string text = to_json(header, -1);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_tensors(const std::string& path, const std::map<std::string, Array>& tensors) {
  const std::vector<Entry> entries = in_order_of_file(tensors);
  const std::string header = header_text(entries);
  std::string length;
  for (std::uint64_t rest = header.size(), i = 0; i < 8; ++i, rest >>= 8)
    length += static_cast<char>(rest & 0xff);
  write_file_with(path, [&](const std::string& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out << length << header;
    for (const auto& [name, array] : entries)
      out.write(reinterpret_cast<const char*>(array.bytes()),
                static_cast<std::streamsize>(array.byte_size()));
    out.close();
    if (!out) file_error("cannot write '" + path + "'");
  });
}

}  // namespace mase::safetensors
