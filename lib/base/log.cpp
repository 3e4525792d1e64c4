// SPDX-License-Identifier: Apache-2.0
// Messages through spdlog, which colours the level's name when stderr is a terminal with colours.
// The first message makes the logger, so a program without messages pays nothing.
#include "base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::log {
namespace {

/// NO_COLOR (no-color.org) and CLICOLOR=0 forbid colours; CLICOLOR_FORCE always asks for them.
spdlog::color_mode wanted_colours() {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value != '\0' && std::string_view(value) != "0";
  };
  const char* clicolor = std::getenv("CLICOLOR");
  if (const char* no_color = std::getenv("NO_COLOR"); no_color && *no_color != '\0')
    return spdlog::color_mode::never;
  if (is_set("CLICOLOR_FORCE")) return spdlog::color_mode::always;
  return clicolor && !is_set("CLICOLOR") ? spdlog::color_mode::never
                                         : spdlog::color_mode::automatic;
}

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("mase",
                        std::make_shared<spdlog::sinks::stderr_color_sink_mt>(wanted_colours()));
    made.set_pattern("%^%l%$: %v");
    made.set_level(spdlog::level::info);
    return made;
  }();
  return instance;
}

}  // namespace

Level parse_level(const std::string& name) {
  const std::vector<std::string> names = {"debug", "info", "warning", "error", "critical"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Level>(i);
  config_error("unknown log level " + quote(name) + "; allowed: " + join(names, " | "));
}

void set_level(Level level) {
  constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info,
                                                  spdlog::level::warn, spdlog::level::err,
                                                  spdlog::level::critical};
  logger().set_level(levels[static_cast<int>(level)]);
}

void debug(const std::string& message) { logger().debug("{}", message); }
void info(const std::string& message) { logger().info("{}", message); }
void warning(const std::string& message) { logger().warn("{}", message); }
void error(const std::string& message) { logger().error("{}", message); }

}  // namespace mase::log
