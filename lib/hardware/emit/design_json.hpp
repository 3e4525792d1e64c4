// design.json: the emitted design for programs that come after.
#pragma once

#include <string>

#include "hardware/emit/emit.hpp"
#include "hardware/emit/names.hpp"

namespace mase::emit {

/// `files` are listed with their SHA-256. Streams, modules and instances carry their names in the
/// emitted text; "name" is the one that was asked for, "top" the emitted one.
std::string design_json(const design::Design& design, const Names& names,
                        const EmitOptions& options, const Files& files);

}  // namespace mase::emit
