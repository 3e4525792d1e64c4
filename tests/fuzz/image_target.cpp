// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG files, as the data set images reads them.
#include "data/image_file.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {

void image(std::string_view bytes) {
  accepts([&] { data::decode_image(bytes, "image"); });
}

}  // namespace mase::fuzz
