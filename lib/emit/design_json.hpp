// design.json: the emitted design for programs that come after.
#pragma once

#include <string>

#include "emit/emit.hpp"
#include "emit/names.hpp"

namespace mase::emit {

/// `files` are listed with their SHA-256. Streams, modules and instances carry their names in the
/// emitted text; "name" is the one that was asked for, "top" the emitted one.
std::string design_json(const hw::Design& design, const Names& names, const EmitOptions& options,
                        const Files& files);

}  // namespace mase::emit
