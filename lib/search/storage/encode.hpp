// SPDX-License-Identifier: Apache-2.0
// Encodes values as Optuna does in its tables: names of states, numbers that are not finite, times,
// and attributes as Python's JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"
#include "search/samplers/trial.hpp"
#include "search/storage/database.hpp"

namespace mase::storage {

/// The state for Optuna's word. Error(Fault::file) that names `where` for an unknown word.
samplers::TrialState state_from(const std::string& word, const std::string& where);
samplers::Direction direction_from(const std::string& word, const std::string& where);
std::string_view direction_name(samplers::Direction direction);
/// "minimize" or "maximize" for each.
std::vector<std::string> direction_words(const std::vector<samplers::Direction>& directions);

/// A number as two columns (value, type). Infinities and NaN are NULL with a type.
struct Stored {
  Value value;
  std::string type;
};
Stored stored(double number);
double number_from(const Value& value, const std::string& type, const std::string& where);

/// Writes JSON as Python does, with NaN, Infinity and -Infinity.
std::string attribute_text(const Tree& tree);
/// Reads an attribute. Text that is not JSON is returned as a string, so that one invalid attribute
/// does not make a study unreadable.
Tree attribute_from(const std::string& text);

/// The total violation of a trial's constraints: the sum of the positive entries of the list
/// "constraints" (Optuna up to 4) and of "constraints:NAME" (from 5). The latter overrides a list
/// entry with the same index.
double violation_of(const Tree& system_attributes);

/// Times have no zone: Optuna 5 stores UTC, older versions local time. A database uses only one.
enum class Zone { utc, local };
Zone zone_of(const std::string& library_version);
std::string time_text(std::int64_t microseconds, Zone zone);  ///< since 1970, UTC
/// Reads a time as milliseconds since 1970, UTC; nothing for text that is not a time.
std::optional<std::int64_t> time_from(const std::string& text, Zone zone);
std::int64_t microseconds_now();

}  // namespace mase::storage
