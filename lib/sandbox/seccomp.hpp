// SPDX-License-Identifier: Apache-2.0
// seccomp restricts the system calls that a process may make.
#pragma once

#include "sandbox/rights.hpp"

namespace mase::sandbox {

bool has_seccomp();  ///< whether the kernel takes filters

/// The part of `keep_only` that restricts system calls. Calls that start programs, open sockets,
/// inspect other processes or change the system fail with EPERM. Does nothing if the kernel has no
/// filters.
void restrict_calls(const Rights& rights);

}  // namespace mase::sandbox
