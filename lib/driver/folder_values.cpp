// SPDX-License-Identifier: Apache-2.0
// A format that says by its parameters alone what becomes of an element is applied piece by piece,
// by all threads; any other one to the whole tensor.
#include "driver/folder_values.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/narrowed.hpp"
#include "base/parallel.hpp"

namespace mase::driver {
namespace {

using formats::Format;

constexpr std::int64_t piece = std::int64_t{1} << 20;  ///< elements

/// Whether each element's value depends on that element alone: the parameters that could be chosen
/// from the tensor are given, and no elements share a scale.
bool is_elementwise(const Format& format, const Shape& shape) {
  const formats::FormatRow* row = formats::find_format(format.name());
  const auto decoding = format.decoding(shape);
  return row && !row->calibrated.empty() && !format.per_channel() && decoding &&
         !decoding->tiling && decoding->shared_bits == 0 &&
         decoding->scales == formats::Decoding::Scales::none;
}

Array quantized_by(const Format& format, const Array& value) {
  Array out = Array::uninitialized(DType::float32, value.shape());
  format.quantize(value.span<float>(), out.mutable_span<float>(), value.shape());
  return out;
}

bool same_codes(const Format& format, const Array& a, const Array& b) {
  try {
    const formats::Encoded first = format.encode(a.span<float>(), a.shape());
    const formats::Encoded second = format.encode(b.span<float>(), b.shape());
    return first.codes == second.codes && first.shared == second.shared &&
           std::ranges::equal(first.scales, second.scales);
  } catch (const Error&) {  // NaN, or a format without codes
    return true;
  }
}

/// The values that the format gives, if all readers get the same values and codes from them as from
/// the tensor.
std::optional<Array> settled(const ir::TensorReaders& readers, const Format& format,
                             const Array& value) {
  const bool scalar = value.shape().empty();
  const auto part = [&](const Array& whole, const std::pair<std::int64_t, std::int64_t>& rows) {
    const bool all = scalar || rows.second == whole.shape().front();
    return all ? whole : whole.rows(rows.first, rows.second);
  };
  Array out = quantized_by(format, value);
  for (const auto& rows : readers.parts) {
    const Array before = part(value, rows), after = part(out, rows);
    if (!after.same_bits(quantized_by(format, before)) ||
        !after.same_bits(quantized_by(format, after)) || !same_codes(format, before, after))
      return std::nullopt;
  }
  return out;
}

}  // namespace

FolderValues::FolderValues(const ir::Graph& graph)
    : graph_(graph), readers_(ir::tensor_readers(graph)) {}

bool FolderValues::write_elements(const Array& stored, const Format* format, DType dtype,
                                  const safetensors::Sink& sink) const {
  const std::int64_t size = stored.size();
  const Array flat = stored.reshaped({size});
  const std::size_t width = size_of(dtype);
  const auto threads = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(size, threads * piece)) * width);
  std::atomic<bool> exact = true;
  for (std::int64_t begin = 0; begin < size && exact; begin += threads * piece) {
    const std::int64_t count = std::min(size - begin, threads * piece);
    for_each_index(
        static_cast<std::size_t>((count + piece - 1) / piece), static_cast<int>(threads), [&] {
          return [&](std::size_t i) {
            const std::int64_t first = static_cast<std::int64_t>(i) * piece;
            const std::int64_t number = std::min(piece, count - first);
            Array part = flat.rows(begin + first, number).to_float32();
            const std::span<float> values = part.mutable_span<float>();
            if (format) format->quantize(values, values, {number});
            std::byte* const out = bytes.data() + static_cast<std::size_t>(first) * width;
            if (!narrowed(values, dtype, out)) exact = false;
          };
        });
    if (exact) sink(bytes.data(), static_cast<std::size_t>(count) * width);
  }
  return exact;
}

bool FolderValues::write(const std::string& path, DType dtype, const safetensors::Sink& sink) {
  const Array stored = graph_.tensors.at(path).value.as_stored();
  if (!is_floating(stored.dtype())) {
    sink(stored.bytes(), stored.byte_size());
    return true;
  }
  const auto found = readers_.find(path);
  if (found == readers_.end() || !found->second.format || stored.size() == 0) {
    return write_elements(stored, nullptr, dtype, sink);
  }
  const Format format = found->second.format->deterministic();
  if (!found->second.differ && is_elementwise(format, stored.shape())) {
    ++quantized_;
    return write_elements(stored, &format, dtype, sink);
  }
  const auto values =
      found->second.differ ? std::nullopt : settled(found->second, format, stored.to_float32());
  if (values)
    ++quantized_;
  else
    kept_.push_back(path);
  return write_elements(values ? *values : stored, nullptr, dtype, sink);
}

}  // namespace mase::driver
