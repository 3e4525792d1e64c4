// SPDX-License-Identifier: Apache-2.0
// A file of safetensors: what is read can be written and read again.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "safetensors/safetensors.hpp"

namespace mase::fuzz {

void safetensors(std::string_view bytes) {
  mase::safetensors::Tensors found;
  const std::string path = stored("model.safetensors", bytes);
  if (!accepts([&] { found = mase::safetensors::read_tensors(path); })) return;
  std::map<std::string, Array> tensors;
  for (const auto& [name, tensor] : found) tensors.emplace(name, tensor.value);
  const std::string copy = folder().file("copy.safetensors");
  mase::safetensors::write_tensors(copy, tensors);
  const mase::safetensors::Tensors again = mase::safetensors::read_tensors(copy);
  for (const auto& [name, tensor] : tensors)
    MASE_CHECK(again.at(name).value.same_bits(tensor), "a tensor reads back as something else");
}

}  // namespace mase::fuzz
