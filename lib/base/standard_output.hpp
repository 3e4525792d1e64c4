// SPDX-License-Identifier: Apache-2.0
// The one way to stdout, where results go: what cannot be written there is not lost silently.
#pragma once

#include <string_view>

namespace mase {

/// Opens what of stdin, stdout and stderr is closed, so that no file of the program gets its number
/// and with it what is printed. Writing to a stdout that was closed is an error still.
void occupy_standard_streams();

/// Writes to stdout at once. An error is remembered: a training goes on without its log.
void print(std::string_view text);

/// Error(Fault::file) with the system's reason if something that was printed did not get out.
/// Called once, at the program's end. (Where a reader closes its pipe, SIGPIPE ends the program at
/// once, as it ends other tools, unless whoever started it has the signal ignored.)
void check_printed();

}  // namespace mase
