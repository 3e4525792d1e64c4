// SPDX-License-Identifier: Apache-2.0
// One device's part of an array.
#pragma once

#include "base/array.hpp"
#include "sharding/layout.hpp"

namespace mase::sharding {

/// The part of an array that device `rank` has in this layout, which must fit. Where devices have
/// addends of a sum, the first one along the axis has the values, and the others zeros.
Array part_of(const Array& array, const Layout& layout, const Mesh& mesh, std::int64_t rank);

}  // namespace mase::sharding
