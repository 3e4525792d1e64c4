// SPDX-License-Identifier: Apache-2.0
// Arrays as host tensors and back.
#include "onnx/import/operand.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "base/file_map.hpp"

namespace mase::onnx {
namespace {

template <class T, class To>
std::vector<ir::Value> items_of(const Array& array) {
  std::vector<ir::Value> items;
  for (const T value : array.span<T>()) items.emplace_back(static_cast<To>(value));
  return items;
}

std::vector<ir::Value> decimals_of(const Array& array) {
  std::vector<ir::Value> items;
  for (const float value : array.span<float>())
    items.emplace_back(shortest_decimal(static_cast<double>(value)));
  return items;
}

template <class T, class Get>
Array filled(const HostTensor& tensor, Get get) {
  Array array(tensor.dtype, tensor.shape);
  std::ranges::transform(tensor.items, array.mutable_span<T>().begin(),
                         [&](const ir::Value& item) { return static_cast<T>(get(item)); });
  return array;
}

/// Tile by tile through a buffer in the nearest cache, so that both matrices are read and written
/// in whole lines.
template <class T>
void turn(const std::byte* from, std::byte* to, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t tile = 64;
  std::array<T, tile * tile> buffer;
  for (std::int64_t top = 0; top < rows; top += tile)
    for (std::int64_t left = 0; left < columns; left += tile) {
      const std::int64_t height = std::min(tile, rows - top),
                         width = std::min(tile, columns - left);
      for (std::int64_t i = 0; i < height; ++i) {
        std::array<T, tile> line;  // the file's rows need not be aligned
        std::memcpy(line.data(), from + ((top + i) * columns + left) * std::int64_t{sizeof(T)},
                    static_cast<std::size_t>(width) * sizeof(T));
        for (std::int64_t j = 0; j < width; ++j)
          buffer[static_cast<std::size_t>(j * tile + i)] = line[static_cast<std::size_t>(j)];
      }
      for (std::int64_t j = 0; j < width; ++j)
        std::memcpy(to + ((left + j) * rows + top) * std::int64_t{sizeof(T)},
                    &buffer[static_cast<std::size_t>(j * tile)],
                    static_cast<std::size_t>(height) * sizeof(T));
    }
}

Array turned_now(const Array& matrix) {
  const std::int64_t rows = matrix.shape().at(0), columns = matrix.shape().at(1);
  Array result = Array::uninitialized(matrix.dtype(), {columns, rows});
  std::byte* to = result.mutable_bytes();
  switch (size_of(matrix.dtype())) {
    case 1:
      turn<std::uint8_t>(matrix.bytes(), to, rows, columns);
      break;
    case 2:
      turn<std::uint16_t>(matrix.bytes(), to, rows, columns);
      break;
    case 4:
      turn<std::uint32_t>(matrix.bytes(), to, rows, columns);
      break;
    default:
      turn<std::uint64_t>(matrix.bytes(), to, rows, columns);
  }
  if (matrix.file()) matrix.file()->was_read(matrix.byte_size());
  return result;
}

}  // namespace

double shortest_decimal(double value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  double decimal = value;
  std::from_chars(text.data(), end, decimal);
  return decimal;
}

Array transposed(const Array& matrix) {
  const Shape shape{matrix.shape().at(1), matrix.shape().at(0)};
  return Array::deferred(matrix.dtype(), shape, [matrix] { return turned_now(matrix); });
}

Constant transposed(const Constant& matrix, std::string name) {
  Constant turned = matrix;
  turned.value = transposed(matrix.value);
  turned.name = std::move(name);
  turned.path.clear();
  return turned;
}

HostTensor HostTensor::integers(std::vector<ir::Value> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {DType::int64, {count}, std::move(values)};
}

bool HostTensor::is_constant() const {
  return std::ranges::none_of(items, [](const ir::Value& item) { return item.is_node(); });
}

std::optional<HostTensor> host_of(const Array& stored) {
  if (stored.size() > most_host_items) return std::nullopt;
  const Array array = stored.aligned();
  const auto with = [&](std::vector<ir::Value> items) {
    return HostTensor{array.dtype(), array.shape(), std::move(items)};
  };
  switch (array.dtype()) {
    case DType::int64:
      return with(items_of<std::int64_t, std::int64_t>(array));
    case DType::int32:
      return with(items_of<std::int32_t, std::int64_t>(array));
    case DType::boolean:
      return with(items_of<bool, bool>(array));
    case DType::float32:
      return with(decimals_of(array));
    case DType::float64:
      return with(items_of<double, double>(array));
    default:
      return std::nullopt;
  }
}

Array array_of(const HostTensor& tensor) {
  const auto integer = [](const ir::Value& item) { return item.as_int(); };
  const auto number = [](const ir::Value& item) { return item.as_double(); };
  switch (tensor.dtype) {
    case DType::int64:
      return filled<std::int64_t>(tensor, integer);
    case DType::int32:
      return filled<std::int32_t>(tensor, integer);
    case DType::boolean:
      return filled<bool>(tensor, [](const ir::Value& item) { return item.as_bool(); });
    case DType::float32:
      return filled<float>(tensor, number);
    case DType::float64:
      return filled<double>(tensor, number);
    default:
      MASE_CHECK(false, "a host tensor of a dtype that it cannot have");
  }
  return {};
}

}  // namespace mase::onnx
