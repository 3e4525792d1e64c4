// SPDX-License-Identifier: Apache-2.0
// Messages for people, written to stderr. Results go to stdout and never through here.
#pragma once

#include <string>

namespace mase::log {

enum class Level { debug, info, warning, error, critical };

Level parse_level(const std::string& name);  ///< Error(Fault::config) when unknown
void set_level(Level level);
void debug(const std::string& message);
void info(const std::string& message);
void warning(const std::string& message);
void error(const std::string& message);

}  // namespace mase::log
