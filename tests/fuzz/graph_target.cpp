// SPDX-License-Identifier: Apache-2.0
// The text of a graph.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "ir/inference.hpp"
#include "ir/text.hpp"
#include "ir/verify.hpp"

namespace mase::fuzz {

void graph(std::string_view bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  ir::Graph graph;
  if (!accepts([&] { graph = ir::parse(bytes, "input", most_bytes); })) return;
  const bool sound = ir::verify(graph).empty();
  const std::string text = ir::print(graph);
  MASE_CHECK(ir::print(ir::parse(text, "printed", most_bytes)) == text,
             "a graph reads back as something else");
  if (sound) accepts([&] { ir::infer_all(graph); });
}

}  // namespace mase::fuzz
