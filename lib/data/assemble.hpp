// SPDX-License-Identifier: Apache-2.0
// What all data sets share: refusal of options that a set does not use, seeded splits,
// standardising, and the checks and the hash of a loaded set.
#pragma once

#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace mase::data {

/// The target "y" of class indices, all 0 so far, of this shape.
Target class_target(const Shape& shape, std::vector<std::string> class_names);

/// "0", "1", ...
std::vector<std::string> numbered_classes(std::int64_t count);

/// The input "x" of uint8 pixels, [rows, channels, ...], all 0 so far, which the options of pixels
/// make numbers. `origin` is for messages.
InputColumn pixel_column(const DataOptions& options, const Shape& shape, const std::string& origin);
/// These options and those of pixels, for `require_only` and `split_randomly`.
std::vector<std::string> with_pixel_options(std::vector<std::string> options);

/// Error(Fault::config) when an option is set that is not in `used`; the message names `used`.
void require_only(const DataOptions& options, const std::string& dataset,
                  const std::vector<std::string>& used);

/// `path` itself or, when it is a folder, its only file with one of these endings (".csv");
/// Error(Fault::file) when the folder has no such file, or several.
std::string only_file(const std::string& path, const std::vector<std::string>& endings);

/// Fills the three parts with a seeded permutation of all rows. Shares default to 0.1 validation
/// and 0.2 test. Error(Fault::config) when no row is left for training, and for options other than
/// those of the split, data_dir and `also_used`.
void split_randomly(Dataset& dataset, const DataOptions& options,
                    const std::vector<std::string>& also_used = {});

/// Takes rows for a part that has none, validation or test, from those for training: the same
/// shares of them, at random by the seed. A share is an option only where its part is missing.
/// Error(Fault::config) as above.
void split_missing_parts(Dataset& dataset, const DataOptions& options,
                         const std::vector<std::string>& also_used = {});

/// Fills the parts with the same shares in order: first train, then validation, then test.
void split_in_order(Dataset& dataset, const DataOptions& options);

/// Subtracts the mean of each feature and divides by its deviation. A feature is an element of the
/// last dimension; both are taken in double over the train part and a row's other dimensions, such
/// as particles (population deviation; constant features are only centred). One float32 input.
void standardise(Dataset& dataset);

/// Error(Fault::file) names file, row and column of the first feature that is NaN or infinite.
/// `origin` is the file; `columns` names the features of a table, or is empty. Integers are finite.
void check_finite(const Array& features, const std::string& origin,
                  const std::vector<std::string>& columns = {});

/// Checks that labels are valid, parts disjoint and features finite, and sets the hash.
void finish(Dataset& dataset, const std::string& origin,
            const std::vector<std::string>& columns = {});

}  // namespace mase::data
