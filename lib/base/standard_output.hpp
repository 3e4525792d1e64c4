// SPDX-License-Identifier: Apache-2.0
// The only way to write results to stdout; output that cannot be written is reported.
#pragma once

#include <string_view>

namespace mase {

/// Opens those of stdin, stdout and stderr that are closed, so that no file of the program gets
/// their number, and with it printed output. Writing to a closed stdout is still an error.
void occupy_standard_streams();

/// Writes to stdout at once. An error is remembered, so that a training goes on without its log.
void print(std::string_view text);

/// Throws Error(Fault::file) with the system's reason if printed output could not be written. It is
/// called once, at the program's end. (When a reader closes its pipe, SIGPIPE ends the program at
/// once, as it ends other tools, unless the program was started with that signal ignored.)
void check_printed();

}  // namespace mase
