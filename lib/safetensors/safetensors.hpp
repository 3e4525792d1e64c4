// SPDX-License-Identifier: Apache-2.0
// Files of the package safetensors: named tensors after a JSON header. They stay in their files
// until something reads their values, so files may be larger than memory.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/array.hpp"

namespace mase::safetensors {

struct StoredTensor {
  Array value;       ///< mapped where the file has it aligned, else copied when it is first read
  std::string file;  ///< for messages
};
using Tensors = std::map<std::string, StoredTensor>;

/// Whether a file has such tensors: its name ends in ".safetensors", or it begins as such a file.
bool is_safetensors(const std::string& path);

/// The tensors of one file. Error(Fault::file) that names file and key when the header is not
/// sound or does not cover the bytes after it exactly, Error(Fault::unsupported) for a type of
/// element that is not known.
Tensors read_tensors(const std::string& path);

/// Reads one file.
using Reader = Tensors(const std::string& path);

/// The tensors of all files that an index ("model.safetensors.index.json") names, which lie in its
/// folder. Each file must have exactly the tensors that the index says.
Tensors read_shards(const std::string& index, Reader* read = read_tensors);

/// Whether the name is that of an index: it ends in ".safetensors.index.json".
bool is_index(const std::string& path);
/// The files in the folder of an index, among which are those that it names; empty for any other
/// path.
std::vector<std::string> files_beside_index(const std::string& path);

/// What the header of a file says of a tensor.
struct TensorType {
  std::string name;
  DType dtype;
  Shape shape;

  std::size_t byte_size() const;
};
/// Takes the bytes of a tensor, in as many pieces as come.
using Sink = std::function<void(const std::byte* bytes, std::size_t count)>;

/// Writes a file tensor by tensor: `values` gives the bytes of each, in the order of `tensors`, and
/// is called when those in front are written. Atomic, as write_file_with.
void write_stream(const std::string& path, const std::vector<TensorType>& tensors,
                  const std::function<void(const TensorType&, const Sink&)>& values);

/// Writes the file that the package writes for these tensors, the same bytes included.
void write_tensors(const std::string& path, const std::map<std::string, Array>& tensors);

}  // namespace mase::safetensors
