// SPDX-License-Identifier: Apache-2.0
// Texts with classes, as a table and as lines of JSON.
#include "data/dataset.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void texts(std::string_view bytes) {
  data::DataOptions options;
  options.max_token_len = 8;
  for (const char* name : {"texts.csv", "texts.jsonl"}) {
    options.data_dir = stored(name, bytes);
    accepts([&] { data::load_dataset("text", options); });
  }
}

}  // namespace mase::fuzz
