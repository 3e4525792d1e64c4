// SPDX-License-Identifier: Apache-2.0
// An .npy file: an array of its own, and the labels of a data set.
#include "data/dataset.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {
namespace {

/// The folder of an npy data set whose inputs are two rows.
data::DataOptions with_labels(std::string_view labels) {
  if (!std::filesystem::exists(folder().file("x.npy")))
    write_npy(folder().file("x.npy"), Array(DType::float32, {2, 3}));
  stored("y.npy", labels);
  data::DataOptions options;
  options.data_dir = folder().path();
  return options;
}

}  // namespace

void npy(std::string_view bytes) {
  Array array;
  if (!accepts([&] { array = read_npy(stored("array.npy", bytes)); })) return;
  const std::string copy = folder().file("copy.npy");
  write_npy(copy, array);
  MASE_CHECK(read_npy(copy).same_bits(array), "an array reads back as something else");
  accepts([&] { data::load_dataset("npy", with_labels(bytes)); });
}

}  // namespace mase::fuzz
