// SPDX-License-Identifier: Apache-2.0
// Settings of a folder of transformers, config.json. There are no weights, which the error says
// after all nodes are built.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "huggingface/import.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::fuzz {

void huggingface(std::string_view bytes) {
  stored("config.json", bytes);
  mase::safetensors::write_tensors(folder().file("model.safetensors"), {});
  accepts([&] { mase::huggingface::import_folder(folder().path(), {}); });
}

}  // namespace mase::fuzz
