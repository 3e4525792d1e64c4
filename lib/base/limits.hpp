// SPDX-License-Identifier: Apache-2.0
// Bounds on what this process takes: the code of a model may loop or allocate as it likes.
#pragma once

namespace mase {

/// Ends the process with a message and the exit code of Fault::file when so many seconds have
/// passed, counted from now; wherever it is. Files are written atomically, so none is half written.
void limit_seconds(double seconds);

/// From now on memory beyond so many GiB (2^30 bytes) cannot be had: the program ends as where the
/// machine has no more.
void limit_memory(double gibibytes);

}  // namespace mase
