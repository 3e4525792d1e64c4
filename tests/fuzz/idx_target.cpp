// SPDX-License-Identifier: Apache-2.0
// IDX files, plain or gzipped: as images of the data set mnist, and as labels.
#include "data/dataset.hpp"
#include "data/idx.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {
namespace {

using namespace std::string_literals;

/// The labels of 24 rows, and one test image with its label.
void store_the_rest() {
  stored("train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x18"s + std::string(24, '\3'));
  stored("t10k-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\1\2"s);
  stored("t10k-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\2abcd"s);
}

}  // namespace

void idx(std::string_view bytes) {
  const std::string path = stored("train-images-idx3-ubyte", bytes);
  accepts([&] { data::read_idx(path, 1); });
  if (!accepts([&] { data::read_idx(path, 3); })) return;
  store_the_rest();
  data::DataOptions options;
  options.data_dir = folder().path();
  accepts([&] { data::load_dataset("mnist", options); });
}

}  // namespace mase::fuzz
