// SPDX-License-Identifier: Apache-2.0
// Reads the header: eight bytes with its length, and JSON with type, shape and bytes of each
// tensor (https://github.com/huggingface/safetensors, "Format").
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/file_map.hpp"
#include "base/git_lfs.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "safetensors/elements.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::safetensors {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t longest_header = std::size_t{100} << 20;  ///< bytes; the package's own limit
constexpr std::string_view metadata_key = "__metadata__";

/// Where a tensor lies in its file, from the end of the header on.
struct Place {
  std::string name;
  DType dtype;
  Shape shape;
  std::size_t begin, end;
};

std::size_t header_length(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return length;
}

std::string_view header_of(std::string_view bytes, const std::string& path) {
  if (bytes.size() < length_bytes)
    file_error(path + ": it has " + std::to_string(bytes.size()) +
               " bytes, but a safetensors file begins with 8 bytes for the length of its header");
  refuse_lfs_pointer(bytes, path);
  const std::size_t length = header_length(bytes);
  if (length > longest_header)
    file_error(path + ": the header has " + std::to_string(length) + " bytes; the most are " +
               std::to_string(longest_header));
  if (length > bytes.size() - length_bytes)
    file_error(path + ": the header has " + std::to_string(length) +
               " bytes, but the file ends after " + std::to_string(bytes.size() - length_bytes) +
               "; it is cut off, or of another kind");
  return bytes.substr(length_bytes, length);
}

/// The header's JSON; spaces fill it up to a multiple of 8 bytes.
Tree header_tree(std::string_view text, const std::string& path) {
  Tree header = parse_json(trim(text), path + ": the header");
  if (!header.is_dict())
    file_error(path + ": the header is of kind " + std::string(header.kind_name()) +
               ", not a table of tensors");
  return header;
}

/// Reads the entries of one header; messages name file and key.
class Entries {
 public:
  Entries(const std::string& path, std::size_t data) : path_(path), data_(data) {}

  Place read(const std::string& name, const Tree& entry) const {
    if (!entry.is_dict()) refuse(name, "its entry is not a table");
    Place place{name, dtype(name, entry), shape(name, entry), 0, 0};
    const Tree::List& offsets = list(name, entry, "data_offsets");
    if (offsets.size() != 2) refuse(name, "'data_offsets' has not two numbers");
    place.begin = whole(name, offsets[0], "data_offsets");
    place.end = whole(name, offsets[1], "data_offsets");
    check_range(place);
    return place;
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& reason) const {
    file_error(path_ + ": tensor '" + name + "': " + reason);
  }

 private:
  const Tree& field(const std::string& name, const Tree& entry, std::string_view key) const {
    const Tree* found = entry.find(key);
    if (!found) refuse(name, "the key '" + std::string(key) + "' is missing");
    return *found;
  }
  const Tree::List& list(const std::string& name, const Tree& entry, std::string_view key) const {
    const Tree& found = field(name, entry, key);
    if (!found.is_list()) refuse(name, "'" + std::string(key) + "' is not a list");
    return found.as_list();
  }
  std::size_t whole(const std::string& name, const Tree& value, std::string_view key) const {
    if (!value.is_int() || value.as_int() < 0)
      refuse(name, "'" + std::string(key) + "' has something else than a whole number");
    return static_cast<std::size_t>(value.as_int());
  }
  Shape shape(const std::string& name, const Tree& entry) const {
    constexpr std::size_t most_dimensions = 64;  ///< as PyTorch has them
    const Tree::List& stored = list(name, entry, "shape");
    if (stored.size() > most_dimensions)
      refuse(name, "it has " + std::to_string(stored.size()) + " dimensions; the most are " +
                       std::to_string(most_dimensions));
    Shape sizes;
    for (const Tree& size : stored)
      sizes.push_back(static_cast<std::int64_t>(whole(name, size, "shape")));
    return sizes;
  }
  DType dtype(const std::string& name, const Tree& entry) const {
    const Tree& text = field(name, entry, "dtype");
    if (!text.is_string()) refuse(name, "'dtype' is not a text");
    const auto row = std::ranges::find(element_rows(), text.as_string(), &ElementRow::name);
    if (row != element_rows().end()) return row->dtype;
    std::vector<std::string> known;
    for (const ElementRow& each : element_rows()) known.emplace_back(each.name);
    unsupported_error(path_ + ": tensor '" + name + "' has elements of type " + text.as_string() +
                      "; known are " + join(known, ", ") +
                      ". Convert it to one of them in PyTorch: tensor.to(torch.float32)");
  }
  void check_range(const Place& place) const {
    if (place.begin > place.end || place.end > data_)
      refuse(place.name, "its bytes " + range(place) + " are outside of the file, which has " +
                             std::to_string(data_) + " after the header");
    const auto elements = product_of(place.shape);
    const auto size = static_cast<std::int64_t>(size_of(place.dtype));
    const auto bytes = elements ? product_of({*elements, size}) : std::nullopt;
    if (!bytes || static_cast<std::size_t>(*bytes) != place.end - place.begin)
      refuse(place.name, std::string(dtype_name(place.dtype)) + shape_text(place.shape) +
                             " does not take the bytes " + range(place));
  }
  static std::string range(const Place& place) {
    return std::to_string(place.begin) + " to " + std::to_string(place.end);
  }

  const std::string& path_;
  std::size_t data_;  ///< bytes after the header
};

/// Error unless each byte belongs to one tensor.
void check_cover(std::vector<Place> places, std::size_t data, const Entries& entries,
                 const std::string& path) {
  std::ranges::sort(places, [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t covered = 0;
  for (const Place& place : places) {
    if (place.begin < covered)
      entries.refuse(place.name, "its bytes begin at " + std::to_string(place.begin) +
                                     ", inside of another tensor");
    if (place.begin > covered)
      entries.refuse(place.name, "no tensor has the bytes " + std::to_string(covered) + " to " +
                                     std::to_string(place.begin) + " in front of it");
    covered = place.end;
  }
  if (covered != data)
    file_error(path + ": no tensor has the last " + std::to_string(data - covered) +
               " bytes of the file");
}

Array array_at(const Place& place, const std::shared_ptr<const FileMap>& file, std::size_t data) {
  const Array mapped = Array::mapped(place.dtype, place.shape, file, data + place.begin);
  if (mapped.is_aligned()) return mapped;
  return Array::deferred(place.dtype, place.shape, [mapped] { return mapped.aligned(); });
}

}  // namespace

bool is_safetensors(const std::string& path) {
  if (path.ends_with(".safetensors")) return true;
  if (std::filesystem::is_directory(path)) return false;
  const auto file = FileMap::open(path);
  if (!file || file->bytes().size() <= length_bytes) return false;
  const std::size_t length = header_length(file->bytes());
  return length <= file->bytes().size() - length_bytes && file->bytes()[length_bytes] == '{';
}

Tensors read_tensors(const std::string& path) {
  const std::shared_ptr<const FileMap> file = FileMap::open(path);
  if (!file) file_error(path + " is empty, or not a regular file");
  const std::string_view header = header_of(file->bytes(), path);
  const std::size_t data = length_bytes + header.size(), size = file->bytes().size() - data;
  const Entries entries(path, size);
  std::vector<Place> places;
  const Tree tree = header_tree(header, path);
  for (const auto& [name, entry] : tree.as_dict())
    if (name != metadata_key) places.push_back(entries.read(name, entry));
  check_cover(places, size, entries, path);
  Tensors tensors;
  for (const Place& place : places)
    tensors.emplace(place.name, StoredTensor{array_at(place, file, data), path});
  return tensors;
}

}  // namespace mase::safetensors
