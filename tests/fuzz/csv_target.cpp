// SPDX-License-Identifier: Apache-2.0
// CSV files, as the data sets csv and jsc read them.
#include "data/dataset.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void csv(std::string_view bytes) {
  data::DataOptions options;
  options.data_dir = stored("table.csv", bytes);
  for (const char* dataset : {"csv", "jsc"}) accepts([&] { data::load_dataset(dataset, options); });
}

}  // namespace mase::fuzz
