// SPDX-License-Identifier: Apache-2.0
// The table of element types, and lookups in a stored model.
#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "onnx/model.hpp"

namespace mase::onnx {
namespace {

using enum ElementType;

constexpr ElementRow element_rows[] = {
    {float32, "FLOAT", 32, DType::float32},
    {uint8, "UINT8", 8, DType::uint8},
    {int8, "INT8", 8, DType::int8},
    {uint16, "UINT16", 16, DType::uint16},
    {int16, "INT16", 16, DType::int16},
    {int32, "INT32", 32, DType::int32},
    {int64, "INT64", 64, DType::int64},
    {string, "STRING", 0, std::nullopt},
    {boolean, "BOOL", 8, DType::boolean},
    {float16, "FLOAT16", 16, DType::float16},
    {float64, "DOUBLE", 64, DType::float64},
    {uint32, "UINT32", 32, DType::uint32},
    // Values above those of int64 have no array; read_model refuses them.
    {uint64, "UINT64", 64, DType::int64},
    {complex64, "COMPLEX64", 64, std::nullopt},
    {complex128, "COMPLEX128", 128, std::nullopt},
    {bfloat16, "BFLOAT16", 16, DType::bfloat16},
    {float8e4m3fn, "FLOAT8E4M3FN", 8, DType::uint8, true},
    {float8e4m3fnuz, "FLOAT8E4M3FNUZ", 8, DType::uint8, true},
    {float8e5m2, "FLOAT8E5M2", 8, DType::uint8, true},
    {float8e5m2fnuz, "FLOAT8E5M2FNUZ", 8, DType::uint8, true},
    {uint4, "UINT4", 4, DType::uint8, true},
    {int4, "INT4", 4, DType::uint8, true},
    {float4e2m1, "FLOAT4E2M1", 4, DType::uint8, true},
    {float8e8m0, "FLOAT8E8M0", 8, DType::uint8, true},
    {uint2, "UINT2", 2, DType::uint8, true},
    {int2, "INT2", 2, DType::uint8, true},
};

}  // namespace

const ElementRow* find_element(ElementType type) {
  const auto* row = std::ranges::find(element_rows, type, &ElementRow::type);
  return row == std::end(element_rows) ? nullptr : row;
}

std::string element_name(ElementType type) {
  const ElementRow* row = find_element(type);
  return row ? std::string(row->name) : "type " + std::to_string(static_cast<std::int32_t>(type));
}

ElementType element_of(DType dtype) {
  const auto* row = std::ranges::find_if(
      element_rows, [&](const ElementRow& one) { return one.dtype == dtype && !one.coded; });
  MASE_CHECK(row != std::end(element_rows), "a dtype without an element type of ONNX");
  return row->type;
}

std::optional<DType> dtype_of(ElementType type) {
  const ElementRow* row = find_element(type);
  return row && !row->coded ? row->dtype : std::nullopt;
}

const std::string* find_property(const Properties& properties, std::string_view name) {
  const auto found = std::ranges::find(properties, name, &Properties::value_type::first);
  return found == properties.end() ? nullptr : &found->second;
}

const Attribute* Node::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

}  // namespace mase::onnx
