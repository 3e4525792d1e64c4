// SPDX-License-Identifier: Apache-2.0
// TorchScript text of formats with a scale per slice: slices as rows, and means with the same order
// of additions as magnitudes.hpp.
#pragma once

#include <string>

#include "formats/rounding.hpp"

namespace mase::formats {

/// A statement that makes `rows`, a matrix with a row for each index of dimension 0 of `x` (one row
/// at ranks 0 and 1), and one that makes `sizes`, its magnitudes in float64.
std::string slices_torchscript(int rank);

/// Statements that make `name`, a float64 column: each row's mean of the `sizes` for which the mask
/// `chosen` holds. When it never holds, the mean is 0 (`exact`) or NaN (`reference`).
std::string mean_torchscript(const std::string& name, const std::string& chosen, Profile profile);

/// The last statement, which returns `values` (shaped as `in`) in the shape of x, never -0; with
/// `keeps_nan` it keeps the NaN of `in`.
std::string return_torchscript(const std::string& values, const std::string& in, bool keeps_nan);

}  // namespace mase::formats
