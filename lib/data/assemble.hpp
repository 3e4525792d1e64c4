// SPDX-License-Identifier: Apache-2.0
// What every data set shares: refusing options it has no use for, seeded splits, standardising, and
// the checks and the hash that a loaded set must pass.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

/// Option names a set uses; any other option that is set is an Error(Fault::config) naming these.
void require_only(const DataOptions& options, const std::string& dataset,
                  const std::vector<std::string>& used);

/// `path` itself, or the only file of the folder that has the ending (".csv"); Error(Fault::file)
/// when there is none or more.
std::string only_file(const std::string& path, const std::string& ending);

/// Fills the three parts with a seeded permutation of all rows. Shares default to 0.1 validation
/// and 0.2 test. Error(Fault::config) when no row is left for training, and for an option that is
/// neither of the split nor data_dir.
void split_randomly(Dataset& dataset, const DataOptions& options);

/// The same shares without the permutation: the train part first, the test part last.
void split_in_order(Dataset& dataset, const DataOptions& options);

/// Subtracts the mean and divides by the deviation of each feature, an element of the last
/// dimension, over the train part and what else a row has, such as particles (population deviation,
/// in double; constant features are only centred). For one input of float32.
void standardise(Dataset& dataset);

/// Error(Fault::file) naming file, row and column of the first NaN or infinite feature. `origin` is
/// the file, `columns` names the features of a table (may be empty). Integers are finite.
void check_finite(const Array& features, const std::string& origin,
                  const std::vector<std::string>& columns = {});

/// Checks labels, disjoint parts and finite features, and sets the hash.
void finish(Dataset& dataset, const std::string& origin,
            const std::vector<std::string>& columns = {});

}  // namespace mase::data
