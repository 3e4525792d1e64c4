// SPDX-License-Identifier: Apache-2.0
// The table of types of elements.
#include "safetensors/elements.hpp"

namespace mase::safetensors {
namespace {

constexpr ElementRow rows[] = {
    {"I64", DType::int64},   {"F64", DType::float64}, {"F32", DType::float32},
    {"U32", DType::uint32},  {"I32", DType::int32},   {"BF16", DType::bfloat16},
    {"F16", DType::float16}, {"U16", DType::uint16},  {"I16", DType::int16},
    {"I8", DType::int8},     {"U8", DType::uint8},    {"BOOL", DType::boolean},
};

}  // namespace

std::span<const ElementRow> element_rows() { return rows; }

}  // namespace mase::safetensors
