// SPDX-License-Identifier: Apache-2.0
// The TorchScript bodies of block_fp, block_minifloat and block_log (Format::torchscript).
#pragma once

#include <string>

#include "formats/block/block_fields.hpp"
#include "formats/block/block_fp_elements.hpp"
#include "formats/block/block_log_elements.hpp"
#include "formats/block/block_minifloat_elements.hpp"

namespace mase::formats {

/// Each body gives the bits of `quantize` for tensors of this rank, in the profile of `fields`.
/// Error(Fault::unsupported) for stochastic rounding.
std::string block_fp_torchscript(const BlockFields& fields, const BlockFpSpec& spec,
                                 bool default_skip, int rank);
std::string block_minifloat_torchscript(const BlockFields& fields, const BlockMinifloatSpec& spec,
                                        bool default_skip, int rank);
std::string block_log_torchscript(const BlockFields& fields, const BlockLogSpec& spec,
                                  bool default_skip, int rank);

}  // namespace mase::formats
