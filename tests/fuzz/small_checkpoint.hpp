// SPDX-License-Identifier: Apache-2.0
// A checkpoint of one linear layer for fuzz targets that replace a part of it.
#pragma once

#include <string>
#include <string_view>

#include "ir/text.hpp"
#include "support/make_zip.hpp"

namespace mase::fuzz {

inline const ir::Graph& small_graph() {
  static const ir::Graph graph = ir::parse(R"(graph "small" {
  tensor fc.weight : float32[2, 3] parameter grad
  tensor fc.bias : float32[2] parameter grad
  module fc : torch.nn.Linear = aten::linear() [weight=@fc.weight, bias=@fc.bias]
  %x : float32[1, 3] = placeholder x
  %fc : float32[1, 2] = call_module fc (input=%x) {weight=integer(8, 4)}
  %output = output output (result=%fc)
}
)",
                                           "small graph");
  return graph;
}

/// The entries of an archive with this pickle; two storages of 64 bytes.
inline test_zip::Entries small_archive(std::string_view pickle) {
  const std::string storage(64, '\x3c');
  return {{"m/data.pkl", std::string(pickle)},
          {"m/data/0", storage},
          {"m/data/1", storage},
          {"m/version", "3\n"}};
}

}  // namespace mase::fuzz
