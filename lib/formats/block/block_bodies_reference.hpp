// SPDX-License-Identifier: Apache-2.0
// Elements of block_fp, block_minifloat and block_log in TorchScript, profile reference.
#pragma once

#include <string>

#include "formats/block/block_fp_elements.hpp"
#include "formats/block/block_log_elements.hpp"
#include "formats/block/block_minifloat_elements.hpp"

namespace mase::formats {

// Statements that define `r` from the tiles `b` and their peaks `p` (block_torchscript.hpp).
std::string reference_block_fp_text(const BlockFpSpec& spec, bool adds_zero);
std::string reference_block_minifloat_text(const BlockMinifloatSpec& spec, bool adds_zero);
std::string reference_block_log_text(const BlockLogSpec& spec, bool adds_zero);

}  // namespace mase::formats
