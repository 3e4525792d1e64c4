// SPDX-License-Identifier: Apache-2.0
// Numbers on the host that are the same for every batch.
#pragma once

#include "hardware/integer/lowering/lowering.hpp"

namespace mase::integer {

bool is_host_value(const ir::Node& node);  ///< a size or number, or a list of such
/// What a host node gives, if its arguments are known numbers; `none` otherwise, as for the batch.
/// The items of a list may be `none`, too.
ir::Value host_number(Lowering& lowering, const ir::Node& node);

}  // namespace mase::integer
