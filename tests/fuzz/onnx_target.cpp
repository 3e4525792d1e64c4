// SPDX-License-Identifier: Apache-2.0
// ONNX files: the messages and the graph.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "onnx/import.hpp"

namespace mase::fuzz {

void onnx(std::string_view bytes) {
  const std::string path = stored("model.onnx", bytes);
  accepts([&] {
    const mase::onnx::Model model = mase::onnx::read_model(path);
    mase::onnx::import_model(model, {.path = path, .most_nodes = 2000});
  });
}

}  // namespace mase::fuzz
