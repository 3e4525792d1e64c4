// SPDX-License-Identifier: Apache-2.0
// The hdf5 data set. libhdf5 depends on two dozen libraries, which every start of the program would
// otherwise load.
#include "base/error.hpp"
#include "base/library.hpp"
#include "data/assemble.hpp"
#include "data/named_arrays.hpp"
#include "data/sources.hpp"

namespace mase::data {

std::vector<NamedArray> read_hdf5(const std::string& path) {
  using Read = void (*)(const std::string& path, std::vector<NamedArray>& arrays);
  static const auto read = reinterpret_cast<Read>(
      open_library("libmase_hdf5.so", "mase_read_hdf5", LibraryScope::own, "HDF5", "libhdf5-dev"));
  std::vector<NamedArray> arrays;
  read(path, arrays);
  return arrays;
}

Dataset load_hdf5(const DataOptions& options) {
  if (options.data_dir.empty())
    config_error("data set hdf5 needs data_dir (--data-dir): an .h5 file, or a folder with one");
  const std::string path = only_file(options.data_dir, {".h5", ".hdf5"});
  return dataset_of_arrays("hdf5", read_hdf5(path), path,
                           "the hdf5 data set is y and x (or x_0, x_1, ..., or arrays named as the "
                           "model's arguments) outside of groups",
                           options);
}

}  // namespace mase::data
