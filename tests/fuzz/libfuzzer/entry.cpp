// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry into the target that the build names in MASE_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mase::fuzz::MASE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
