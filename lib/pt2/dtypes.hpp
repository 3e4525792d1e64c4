// SPDX-License-Identifier: Apache-2.0
// The numbers of element types in an exported program, which are those of neither torch nor ONNX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/array.hpp"

namespace mase::pt2 {

/// A scalar type of torch/_export/serde/schema.py.
struct ScalarTypeRow {
  std::int64_t number;    ///< in the file
  std::int64_t in_torch;  ///< of c10::ScalarType, as an operator's argument has it
  std::optional<DType> dtype;
  std::string_view name;
};

/// Error(Fault::file) for a number that the schema does not have.
const ScalarTypeRow& scalar_type(std::int64_t number);
/// The rows of an element type, and of a number of c10::ScalarType. Error(Fault::unsupported) for
/// one that the schema does not have.
const ScalarTypeRow& row_of(DType dtype);
const ScalarTypeRow& row_of_torch(std::int64_t in_torch);
/// The element type of a tensor. Error(Fault::unsupported) for one that no array has.
DType dtype_of(std::int64_t number, const std::string& what);

}  // namespace mase::pt2
