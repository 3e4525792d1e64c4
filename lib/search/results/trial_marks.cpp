// SPDX-License-Identifier: Apache-2.0
// Titles, labels and shades.
#include "search/results/trial_marks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "search/results/result_rows.hpp"

namespace mase::search {

using storage::Record;

std::string trial_title(const Record& record, const std::string& values) {
  const std::string repeated = repeats_earlier(record) ? " (" + reason_of(record) + ")" : "";
  return "trial " + std::to_string(record.trial.number) + ": " + values + repeated;
}

std::string dimension_label(const std::string& name) { return replace_all(name, "/config/", " "); }

bool repeats_earlier(const Record& record) {
  return record.trial.attributes.find(storage::repeats_attribute) != nullptr;
}

double shade_of(const samplers::Distribution& distribution, double internal) {
  double low = 0, high = 0, value = internal;
  if (const auto* d = std::get_if<samplers::FloatDistribution>(&distribution)) {
    low = d->low, high = d->high;
  } else if (const auto* whole = std::get_if<samplers::IntDistribution>(&distribution)) {
    low = static_cast<double>(whole->low), high = static_cast<double>(whole->high);
  } else {
    const auto& choices = std::get<samplers::CategoricalDistribution>(distribution).choices;
    high = static_cast<double>(choices.size()) - 1;
    if (std::all_of(choices.begin(), choices.end(),
                    [](const Tree& choice) { return choice.is_number(); }))
      // The position among the choices in ascending order, so that 2, 4, 16 are evenly spaced.
      value = static_cast<double>(
          std::count_if(choices.begin(), choices.end(), [&](const Tree& choice) {
            return choice.as_double() < choices[static_cast<std::size_t>(internal)].as_double();
          }));
  }
  return high > low ? (value - low) / (high - low) : 0.5;
}

}  // namespace mase::search
