// SPDX-License-Identifier: Apache-2.0
// Data sets made of arrays with names: x or the names of a model's arguments, and y.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

/// A named array and the file it comes from, for messages.
struct NamedArray {
  std::string name, path;
  Array array;
};

/// The data set with these inputs and, if y is there, labels, as load_npy reads them. `origin` is
/// where they come from, and `expected` says what belongs there.
Dataset dataset_of_arrays(const std::string& name, std::vector<NamedArray> sources,
                          const std::string& origin, const std::string& expected,
                          const DataOptions& options);

/// The arrays of an HDF5 file, outside of its groups. Opens libhdf5 on first use. Those that lie in
/// the file as a machine has them stay there. Error(Fault::file) names file and array.
std::vector<NamedArray> read_hdf5(const std::string& path);

}  // namespace mase::data
