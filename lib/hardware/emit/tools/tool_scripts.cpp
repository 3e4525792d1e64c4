// SPDX-License-Identifier: Apache-2.0
// The templates of hw_templates/quartus and hw_templates/radiant, filled in.
#include "hardware/emit/tools/tool_scripts.hpp"

#include "base/text.hpp"
#include "hardware/emit/place.hpp"
#include "hardware/emit/text/names.hpp"
#include "hardware/emit/text/templates.hpp"
#include "hardware/emit/vivado.hpp"

namespace mase::emit {

Files tool_scripts(const design::Design& design, const EmitOptions& options) {
  const Names names = names_of(design);
  const std::vector<DeviceScope> parts = device_scopes(design, names);
  const Tokens tokens = {{"TOP", names.top},
                         {"CHOOSE_DEVICE", choose_device(parts)},
                         {"BOUNDARY", boundary_name},
                         {"MHZ", double_text(options.clock_mhz)},
                         {"PERIOD", fixed_text(1000 / options.clock_mhz, 3)}};
  Files files;
  for (const char* name : {"quartus/build.tcl", "radiant/build.tcl"})
    files[name] = filled(template_text(name), tokens);
  for (const DeviceScope& part : parts)
    files["place/" + (boundary_name + part.ending()) + ".sv"] = boundary_text(design, names, part);
  return files;
}

}  // namespace mase::emit
