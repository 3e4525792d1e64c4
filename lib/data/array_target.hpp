// SPDX-License-Identifier: Apache-2.0
// Targets from arrays that users store.
#pragma once

#include <string>

#include "data/dataset.hpp"

namespace mase::data {

/// Whether an array of this name holds targets: "y", "y_0", "y_boxes".
bool is_target_name(const std::string& name);

/// The target in an array `name` of the file `path`. Its task is that of its output in the options,
/// or the task in the options; otherwise whole numbers are classes, and numbers with a fraction in
/// an array other than "y" are for regression.
/// - Classes are indices, [rows] or [rows, ...], or one-hot [rows, classes]; `classes` is their
///   number, or 0 if the largest index says it.
/// - Flags are 0 or 1; numbers are finite, of any shape.
/// Error(Fault::file) for other values names the row.
Target make_target(const std::string& name, const std::string& path, const Array& array,
                   const DataOptions& options, std::int64_t classes = 0);

}  // namespace mase::data
