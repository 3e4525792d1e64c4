// SPDX-License-Identifier: Apache-2.0
// The contents of a reloadable design's memories as the host's driver writes them.
#pragma once

#include <string>

#include "hardware/emit/emit.hpp"

namespace mase::emit {

/// That of the checkpoint which a folder was emitted from, in the folder.
inline constexpr const char* weights_file = "host/weights.bin";

/// Words of 32 bits, low byte first: "MREL", the version of this layout (1), the design_number that
/// it belongs to, the FNV-1a hash of the bytes from word 5 on, their number in words; then runs:
/// the place of the first word, how many follow, these.
std::string reload_image(const design::Design& design);

/// Error(Fault::file) naming the first instance or memory in which the design differs from the one
/// emitted into the folder in more than what a host may write.
void check_same_hardware(const std::string& folder, const design::Design& design,
                         const EmitOptions& options);

}  // namespace mase::emit
