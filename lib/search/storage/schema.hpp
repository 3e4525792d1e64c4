// SPDX-License-Identifier: Apache-2.0
// Schema: Optuna's tables, made where there are none, and what an existing database says it is.
#pragma once

#include "search/storage/database.hpp"
#include "search/storage/encode.hpp"

namespace mase::storage {

/// Creates the tables in an empty database, as Optuna 5.0.0 does, and reads whose times they hold.
/// Error(Fault::file) for a schema version that is neither v3.2.0.a nor v3.0.0.d (which lacks one
/// index only); nothing is ever migrated. To view, nothing is created: Error(Fault::file) without
/// tables.
Zone open_schema(Database& database, Opening opening);

}  // namespace mase::storage
