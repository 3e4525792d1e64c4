// SPDX-License-Identifier: Apache-2.0
// Bounds on what this process takes: the code of a model may loop or allocate as it likes.
#pragma once

#include <string>

namespace mase {

/// Ends the process with a message and the exit code of Fault::file when so many seconds have
/// passed, counted from now; wherever it is. Files are written atomically, so none is half written.
void limit_seconds(double seconds);

bool has_time_limit();

/// From now on memory beyond so many GiB (2^30 bytes) cannot be had: the program ends as where the
/// machine has no more.
void limit_memory(double gibibytes);
/// The memory of the machine, where limit_memory was not called: a model that asks for more gets an
/// error rather than the machine's last page.
void limit_memory_by_default();

/// What to tell where memory is out: with the limit, and how to change it.
std::string out_of_memory();

}  // namespace mase
