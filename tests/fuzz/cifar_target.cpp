// SPDX-License-Identifier: Apache-2.0
// Records of CIFAR in its binary version, as all files of both data sets.
#include "data/dataset.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void cifar(std::string_view bytes) {
  stored("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  std::string names;
  for (int i = 0; i < 100; ++i) names += std::to_string(i) + "\n";
  stored("fine_label_names.txt", names);
  for (const char* file :
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
        "data_batch_5.bin", "test_batch.bin", "train.bin", "test.bin"})
    stored(file, bytes);
  data::DataOptions options;
  options.data_dir = folder().path();
  for (const char* set : {"cifar10", "cifar100"})
    accepts([&] { data::load_dataset(set, options); });
}

}  // namespace mase::fuzz
