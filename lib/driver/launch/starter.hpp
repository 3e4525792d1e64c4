// SPDX-License-Identifier: Apache-2.0
// The process that starts the commands of a launch for a Launcher.
#pragma once

#include <string>
#include <vector>

#include "driver/launch/launch.hpp"

namespace mase::driver {

// What a Launcher asks for. An answer tells a command's end in three lines: its status, its name
// and the last line that it printed.
inline constexpr const char* start_request = "start";
inline constexpr const char* stop_request = "stop";

/// Serves a launcher at the other end of the socket, and ends when that is gone or all commands
/// have ended.
[[noreturn]] void serve_launcher(int socket, const std::vector<LaunchCommand>& commands,
                                 const std::string& logs);

}  // namespace mase::driver
