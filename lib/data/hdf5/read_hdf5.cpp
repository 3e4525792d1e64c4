// SPDX-License-Identifier: Apache-2.0
// Reads arrays by libhdf5. What leads out of the file, such as links to other files and filters
// that are loaded from elsewhere, is refused.
#include <hdf5.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/error.hpp"
#include "base/file_map.hpp"
#include "data/named_arrays.hpp"

namespace mase::data {
namespace {

/// An identifier of the library, and the function that gives it back.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  hid_t id() const { return id_; }
  bool is_valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// A type in memory: that of an Array and that of the library.
struct MemoryType {
  DType dtype;
  hid_t id;
};

MemoryType integer_type(std::size_t size, bool is_signed, const std::string& where) {
  if (size == 1 && is_signed) return {DType::int8, H5T_NATIVE_INT8};
  if (size == 1) return {DType::uint8, H5T_NATIVE_UINT8};
  if (size == 2 && is_signed) return {DType::int16, H5T_NATIVE_INT16};
  if (size == 2) return {DType::uint16, H5T_NATIVE_UINT16};
  if (size == 4 && is_signed) return {DType::int32, H5T_NATIVE_INT32};
  if (size == 4) return {DType::uint32, H5T_NATIVE_UINT32};
  if (size == 8 && is_signed) return {DType::int64, H5T_NATIVE_INT64};
  file_error(where +
             ": integers of this type are not supported; store at most 64 bits, not uint64");
}

/// Half precision is read as float32, which has all of its values.
MemoryType memory_type(hid_t type, const std::string& where) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_type(size, H5Tget_sign(type) == H5T_SGN_2, where);
    case H5T_FLOAT:
      if (size <= 4) return {DType::float32, H5T_NATIVE_FLOAT};
      if (size == 8) return {DType::float64, H5T_NATIVE_DOUBLE};
      break;
    case H5T_ENUM:
      file_error(where + ": truth values and other enumerations are not read; store them as uint8");
    default:
      break;
  }
  file_error(where +
             ": its elements are not numbers of at most 64 bits; store float32 or integers");
}

Shape shape_of(hid_t set, const std::string& where) {
  const Handle space(H5Dget_space(set), H5Sclose);
  const int rank = space.is_valid() ? H5Sget_simple_extent_ndims(space.id()) : -1;
  if (rank < 0) file_error(where + ": this array is damaged");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr);
  return {sizes.begin(), sizes.end()};
}

/// Refuses arrays whose values lie in other files.
void check_layout(hid_t set, const std::string& where) {
  const Handle properties(H5Dget_create_plist(set), H5Pclose);
  if (!properties.is_valid()) file_error(where + ": this array is damaged");
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL || H5Pget_external_count(properties.id()) != 0)
    file_error(where + ": its values are in other files; copy them into this one");
}

/// The array in its file, if its values lie there one after another as in memory.
std::optional<Array> mapped_array(hid_t set, const MemoryType& memory, hid_t type,
                                  const Shape& shape, const std::string& path) {
  if (H5Tequal(type, memory.id) <= 0 || numel(shape) == 0) return std::nullopt;
  const haddr_t offset = H5Dget_offset(set);  // none for values that are in pieces or packed
  const auto file = offset == HADDR_UNDEF ? nullptr : FileMap::open(path);
  const std::size_t item = size_of(memory.dtype);
  const auto count = static_cast<std::size_t>(numel(shape));
  if (!file || offset % item != 0 || offset > file->bytes().size() ||
      count > (file->bytes().size() - offset) / item)
    return std::nullopt;
  return Array::mapped(memory.dtype, shape, file, offset);
}

Array read_array(hid_t file, const std::string& name, const std::string& path) {
  const std::string where = path + ": " + name;
  const Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.is_valid()) file_error(where + ": this array is damaged");
  check_layout(set.id(), where);
  const Handle type(H5Dget_type(set.id()), H5Tclose);
  const MemoryType memory = memory_type(type.id(), where);
  const Shape shape = shape_of(set.id(), where);
  if (auto mapped = mapped_array(set.id(), memory, type.id(), shape, path)) return *mapped;
  Array array(memory.dtype, shape);
  if (array.size() > 0 &&
      H5Dread(set.id(), memory.id, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.mutable_bytes()) < 0)
    file_error(where +
               ": its values cannot be read: they are damaged, or packed by a filter that "
               "libhdf5 does not have; store them with gzip, or unpacked");
  return array;
}

/// The names of the arrays at the top of the file.
std::vector<std::string> array_names(hid_t file, const std::string& path) {
  std::vector<std::string> links, arrays;
  const auto add = [](hid_t, const char* name, const H5L_info_t* info, void* into) -> herr_t {
    if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(into)->push_back(name);
    return 0;
  };
  if (H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &links) < 0)
    file_error(path + ": this file is damaged");
  for (const std::string& name : links) {
    const Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (object.is_valid() && H5Iget_type(object.id()) == H5I_DATASET) arrays.push_back(name);
  }
  return arrays;
}

}  // namespace

extern "C" void mase_read_hdf5(const std::string& path, std::vector<NamedArray>& arrays) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.is_valid())
    file_error(path + ": not an HDF5 file, or it is damaged or open for writing elsewhere");
  for (const std::string& name : array_names(file.id(), path))
    arrays.push_back({name, path + ": " + name, read_array(file.id(), name, path)});
}

}  // namespace mase::data
