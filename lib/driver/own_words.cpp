// SPDX-License-Identifier: Apache-2.0
// The words come from /proc, so that no command has to pass them on.
#include "driver/own_words.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::driver {

std::vector<std::string> own_words(std::span<const std::string> with_value,
                                   std::span<const std::string> flags) {
  std::vector<std::string> words = split(read_file("/proc/self/cmdline", SIZE_MAX), '\0'), kept;
  if (!words.empty() && words.back().empty()) words.pop_back();
  const auto joined = [&](const std::string& word) {
    return std::ranges::any_of(with_value,
                               [&](const auto& option) { return word.starts_with(option + "="); });
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::ranges::count(with_value, words[i]) > 0)
      ++i;
    else if (!joined(words[i]) && std::ranges::count(flags, words[i]) == 0)
      kept.push_back(words[i]);
  }
  return kept;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace mase::driver
