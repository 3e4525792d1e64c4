// SPDX-License-Identifier: Apache-2.0
// Numbers the distinct texts.
#include "data/class_texts.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/assemble.hpp"

namespace mase::data {
namespace {

constexpr std::size_t most_class_texts = 1000;

/// Sorts by value when all texts are whole numbers; they come sorted by spelling.
void sort_numbers(std::vector<std::string>& texts) {
  if (!std::ranges::all_of(texts, [](const auto& text) { return parse_int(text).has_value(); }))
    return;
  std::ranges::sort(texts, {}, [](const auto& text) { return *parse_int(text); });
}

}  // namespace

Target target_of_texts(const std::vector<std::string_view>& texts,
                       const std::function<std::string(std::size_t row)>& place) {
  std::map<std::string_view, std::int64_t> number;
  for (std::size_t row = 0; row < texts.size(); ++row) {
    if (texts[row].empty()) file_error(place(row) + ": the class is missing");
    number[texts[row]] = 0;
    if (number.size() > most_class_texts)
      file_error(place(row) + ": more than " + std::to_string(most_class_texts) +
                 " different values, so it is not a class column; label_column (--label-column) "
                 "names another, and numbers are for task regression (--task)");
  }
  std::vector<std::string> names;
  for (const auto& entry : number) names.emplace_back(entry.first);
  sort_numbers(names);
  Target target = class_target({static_cast<std::int64_t>(texts.size())}, names);
  for (std::int64_t i = 0; i < target.classes(); ++i)
    number[target.class_names[static_cast<std::size_t>(i)]] = i;
  std::ranges::transform(texts, target.values.mutable_span<std::int64_t>().begin(),
                         [&](std::string_view text) { return number.at(text); });
  return target;
}

}  // namespace mase::data
