// SPDX-License-Identifier: Apache-2.0
// Bounds on the time and memory of this process, since a model's code may loop or allocate freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mase {

/// Ends the process so many seconds from now, wherever it is, with a message and the exit code of
/// Fault::file. Files are written atomically, so no file is left half written.
void limit_seconds(double seconds);

bool has_time_limit();

/// Limits the process to so many GiB (2^30 bytes) of memory. Beyond that, it ends as it would when
/// the machine had no more memory.
void limit_memory(double gibibytes);
/// Unless limit_memory was called, limits memory to that of the machine, so that a model that asks
/// for more gets an error and not the machine's last page.
void limit_memory_by_default();

/// The bytes that programs could still use without another's being ended; nullopt if not known.
std::optional<std::uint64_t> available_memory();

/// The message when memory runs out: it names the limit and how to change it.
std::string out_of_memory();

}  // namespace mase
