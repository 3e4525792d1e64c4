// SPDX-License-Identifier: Apache-2.0
// seccomp: which system calls a process may make.
#pragma once

#include "sandbox/rights.hpp"

namespace mase::sandbox {

bool has_seccomp();  ///< whether the kernel takes filters

/// The part of `keep_only` that is about system calls: those that start programs, open sockets,
/// look into other processes or change the system fail with EPERM. Does nothing where the kernel
/// has no filters.
void restrict_calls(const Rights& rights);

}  // namespace mase::sandbox
