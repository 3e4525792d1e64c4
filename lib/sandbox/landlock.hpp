// SPDX-License-Identifier: Apache-2.0
// Landlock: the kernel's rules about which files a process may reach.
#pragma once

#include "sandbox/rights.hpp"

namespace mase::sandbox {

/// The version of Landlock's interface; 0 if the kernel lacks it or it is switched off.
int landlock_version();

/// The part of `keep_only` that restricts files. Does nothing at version 0.
void restrict_files(const Rights& rights, int version);

}  // namespace mase::sandbox
