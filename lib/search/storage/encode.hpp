// SPDX-License-Identifier: Apache-2.0
// How Optuna writes things into its tables: names of states, numbers that are not finite, times,
// and attributes as Python's JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/tree.hpp"
#include "search/samplers/trial.hpp"
#include "search/storage/database.hpp"

namespace mase::storage {

/// Error(Fault::file) naming `where` for a word that Optuna does not have.
samplers::TrialState state_from(const std::string& word, const std::string& where);
samplers::Direction direction_from(const std::string& word, const std::string& where);
std::string_view direction_name(samplers::Direction direction);

/// A number as its two columns (value, type): infinities and NaN are NULL with a type.
struct Stored {
  Value value;
  std::string type;
};
Stored stored(double number);
double number_from(const Value& value, const std::string& type, const std::string& where);

/// Python's JSON: as JSON, with NaN, Infinity and -Infinity.
std::string attribute_text(const Tree& tree);
/// The value; text that is no JSON comes back as the string itself, so that one strange attribute
/// does not hide a study.
Tree attribute_from(const std::string& text);

/// By how much a trial's constraints are missed together: the sum of the positive entries of the
/// list "constraints" (Optuna up to 4) and of "constraints:NAME" (from 5), which wins where the
/// list has an entry of that index.
double violation_of(const Tree& system_attributes);

/// Times are naive: UTC from Optuna 5 on, local before. One database keeps one of the two.
enum class Zone { utc, local };
Zone zone_of(const std::string& library_version);
std::string time_text(std::int64_t microseconds, Zone zone);  ///< since 1970, UTC
/// Milliseconds since 1970, UTC; nothing for text that is no time.
std::optional<std::int64_t> time_from(const std::string& text, Zone zone);
std::int64_t microseconds_now();

}  // namespace mase::storage
