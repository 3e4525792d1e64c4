// SPDX-License-Identifier: Apache-2.0
// The top module of a design: all of its instances, or one module for each device.
#include "hardware/emit/text/top.hpp"

#include <set>

#include "base/error.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/scope.hpp"
#include "hardware/emit/text/verilog.hpp"

namespace mase::emit {
namespace {

void check_borders(const design::Design& design) {
  std::set<design::StreamId> seen;
  for (const auto* side : {&design.inputs, &design.outputs})
    for (const design::StreamId id : *side)
      MASE_CHECK(seen.insert(id).second,
                 "stream " + design.stream(id).name + " is twice at the border of the design");
}

}  // namespace

std::string top_text(const design::Design& design, const Names& names) {
  check_borders(design);
  if (has_devices(design)) return verilog::print(module_of_devices(design, names));
  return verilog::print(module_of_scope(design, names, whole_scope(design, names)));
}

}  // namespace mase::emit
