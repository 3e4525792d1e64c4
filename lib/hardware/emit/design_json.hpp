// SPDX-License-Identifier: Apache-2.0
// design.json: the emitted design for programs that come after.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/emit/emit.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {

/// `files` are listed with their SHA-256. Streams, modules and instances carry their names in the
/// emitted text; "name" is the one that was asked for, "top" the emitted one.
std::string design_json(const design::Design& design, const Names& names,
                        const EmitOptions& options, const Files& files);

/// What later commands need of an emitted design.
struct EmittedDesign {
  std::string name;
  EmitOptions options;
  std::vector<std::string> files;  ///< relative paths inside the folder
};

/// Reads the text of `path`, a design.json. Error(Fault::file) when it is damaged or names a file
/// outside of its folder.
EmittedDesign read_design_json(std::string_view text, const std::string& path);

}  // namespace mase::emit
