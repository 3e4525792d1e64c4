// SPDX-License-Identifier: Apache-2.0
// The table of shared names.
#include "search/samplers/name_map.hpp"

#include <mutex>
#include <set>

namespace mase::samplers {

const std::string& shared_name(std::string_view name) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;  // its elements never move
  const std::lock_guard lock(mutex);
  const auto found = names.find(name);
  return found != names.end() ? *found : *names.emplace(name).first;
}

}  // namespace mase::samplers
