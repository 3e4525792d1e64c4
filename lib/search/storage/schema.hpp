// SPDX-License-Identifier: Apache-2.0
// Schema: creates Optuna's tables if there are none, and reads the version of an existing database.
#pragma once

#include "search/storage/database.hpp"
#include "search/storage/encode.hpp"

namespace mase::storage {

/// Creates the tables in an empty database as Optuna 5.0.0 does, and returns the zone of its times.
/// Error(Fault::file) for a schema version that is neither v3.2.0.a nor v3.0.0.d (which only lacks
/// one index); nothing is ever migrated. To view, nothing is created, and a database without tables
/// is an Error(Fault::file).
Zone open_schema(Database& database, Opening opening);

}  // namespace mase::storage
