// SPDX-License-Identifier: Apache-2.0
// The table of element types.
#include "pt2/dtypes.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace mase::pt2 {
namespace {

constexpr ScalarTypeRow rows[] = {
    {1, 0, DType::uint8, "uint8"},
    {2, 1, DType::int8, "int8"},
    {3, 2, DType::int16, "int16"},
    {4, 3, DType::int32, "int32"},
    {5, 4, DType::int64, "int64"},
    {6, 5, DType::float16, "float16"},
    {7, 6, DType::float32, "float32"},
    {8, 7, DType::float64, "float64"},
    {9, 8, {}, "complex32"},
    {10, 9, {}, "complex64"},
    {11, 10, {}, "complex128"},
    {12, 11, DType::boolean, "bool"},
    {13, 15, DType::bfloat16, "bfloat16"},
    {28, 27, DType::uint16, "uint16"},
    {29, 24, {}, "float8_e4m3fn"},
    {30, 23, {}, "float8_e5m2"},
    {31, 26, {}, "float8_e4m3fnuz"},
    {32, 25, {}, "float8_e5m2fnuz"},
};

}  // namespace

const ScalarTypeRow& scalar_type(std::int64_t number) {
  const auto* row = std::ranges::find(rows, number, &ScalarTypeRow::number);
  if (row == std::end(rows))
    file_error("the element type " + std::to_string(number) + " is not one of PyTorch's");
  return *row;
}

const ScalarTypeRow& row_of(DType dtype) {
  const auto* row = std::ranges::find(rows, std::optional(dtype), &ScalarTypeRow::dtype);
  if (row == std::end(rows))
    unsupported_error("elements of type " + std::string(dtype_name(dtype)) +
                      " have no number in an exported program");
  return *row;
}

const ScalarTypeRow& row_of_torch(std::int64_t in_torch) {
  const auto* row = std::ranges::find(rows, in_torch, &ScalarTypeRow::in_torch);
  if (row == std::end(rows))
    unsupported_error("PyTorch's element type " + std::to_string(in_torch) +
                      " has no number in an exported program");
  return *row;
}

DType dtype_of(std::int64_t number, const std::string& what) {
  const ScalarTypeRow& row = scalar_type(number);
  if (!row.dtype)
    unsupported_error(what + " has elements of type " + std::string(row.name) +
                      ", which no array here has; convert it in Python, e.g. with .float()");
  return *row.dtype;
}

}  // namespace mase::pt2
