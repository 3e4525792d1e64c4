// SPDX-License-Identifier: Apache-2.0
// How the error of a process begins that ends because another one has ended.
#pragma once

namespace mase::backend {

inline constexpr const char* lost_another = "lost another process";

}  // namespace mase::backend
