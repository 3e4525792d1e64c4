// SPDX-License-Identifier: Apache-2.0
// design.json of an emitted folder, the statistics of Yosys, and JSON itself.
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"
#include "hardware/emit/design_json.hpp"
#include "hardware/emit/tools/yosys_stat.hpp"

namespace mase::fuzz {

void design(std::string_view bytes) {
  Tree tree;
  if (!accepts([&] { tree = parse_json(bytes, "input.json"); })) return;
  const std::string text = to_json(tree);
  MASE_CHECK(to_json(parse_json(text, "written.json")) == text,
             "JSON reads back as something else");
  accepts([&] { emit::read_design_json(bytes, "design.json"); });
  for (const char* family : {"xc7", "ice40", "ecp5"})
    accepts([&] { emit::cost_of_stat(std::string(bytes), "top", family); });
}

}  // namespace mase::fuzz
