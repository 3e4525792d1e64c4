// SPDX-License-Identifier: Apache-2.0
// An HDF5 file, which libhdf5 takes apart.
#include "data/dataset.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void hdf5(std::string_view bytes) {
  data::DataOptions options;
  options.data_dir = stored("arrays.h5", bytes);
  accepts([&] { data::load_dataset("hdf5", options); });
}

}  // namespace mase::fuzz
