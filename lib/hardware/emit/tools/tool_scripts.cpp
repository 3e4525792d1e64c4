// SPDX-License-Identifier: Apache-2.0
// The templates of hw_templates/quartus and hw_templates/radiant, filled in.
#include "hardware/emit/tools/tool_scripts.hpp"

#include "base/text.hpp"
#include "hardware/emit/place.hpp"
#include "hardware/emit/text/names.hpp"
#include "hardware/emit/text/templates.hpp"

namespace mase::emit {

Files tool_scripts(const design::Design& design, const EmitOptions& options) {
  const Tokens tokens = {{"TOP", names_of(design).top},
                         {"BOUNDARY", boundary_name},
                         {"MHZ", double_text(options.clock_mhz)},
                         {"PERIOD", fixed_text(1000 / options.clock_mhz, 3)}};
  Files files;
  for (const char* name : {"quartus/build.tcl", "radiant/build.tcl"})
    files[name] = filled(template_text(name), tokens);
  files["place/" + std::string(boundary_name) + ".sv"] = boundary_text(design);
  return files;
}

}  // namespace mase::emit
