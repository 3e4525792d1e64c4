// SPDX-License-Identifier: Apache-2.0
// Tensors are quantized and written piece by piece, by all threads.
#include "driver/folder_values.hpp"

#include <atomic>
#include <vector>

#include "base/narrowed.hpp"
#include "driver/settled_format.hpp"
#include "driver/tensor_pieces.hpp"

namespace mase::driver {
namespace {

using formats::Format;
using formats::Piece;
using formats::Pieces;
using formats::Strips;

/// Gives the elements as numbers of `dtype` to `sink`, in order. False if `dtype` has not all of
/// them exactly.
bool write_pieces(const Array& stored, const Pieces& pieces, const Format* format, DType dtype,
                  const safetensors::Sink& sink) {
  const Array flat = stored.reshaped({stored.size()});
  const std::size_t width = size_of(dtype);
  const auto at_once = static_cast<std::size_t>(threads_for(pieces));
  std::vector<std::byte> bytes;
  std::atomic<bool> exact = true;
  for (std::size_t next = 0; next < pieces.count() && exact; next += at_once) {
    const std::size_t number = std::min(at_once, pieces.count() - next);
    const std::int64_t first = pieces.at(next).first, end = pieces.at(next + number - 1).end();
    bytes.resize(static_cast<std::size_t>(end - first) * width);
    for_each_piece(pieces, next, number, [&](const Piece& piece) {
      Array values = piece.values(flat);
      const std::span<float> span = values.mutable_span<float>();
      if (format) pieces.format_of(*format, piece).quantize(span, span, piece.shape);
      std::byte* const out = bytes.data() + static_cast<std::size_t>(piece.first - first) * width;
      if (!narrowed(span, dtype, out)) exact = false;
    });
    if (exact) sink(bytes.data(), bytes.size());
  }
  return exact;
}

/// The same for a tensor whose blocks have too many rows for pieces: the elements are put together
/// as numbers of `dtype`.
bool write_strips(const Array& stored, const Strips& strips, const Format& format, DType dtype,
                  const safetensors::Sink& sink) {
  const std::size_t width = size_of(dtype);
  Array whole = Array::uninitialized(dtype, stored.shape());
  std::byte* const out = whole.mutable_bytes();
  std::atomic<bool> exact = true;
  for_each_strip(strips, [&](std::size_t i) {
    if (!exact) return;
    Array values = strips.take(stored, i).to_float32();
    const std::span<float> span = values.mutable_span<float>();
    format.quantize(span, span, values.shape());
    std::vector<std::byte> bytes(span.size() * width);
    if (narrowed(span, dtype, bytes.data()))
      strips.put(bytes, width, i, out);
    else
      exact = false;
  });
  if (exact) sink(whole.bytes(), whole.byte_size());
  return exact;
}

}  // namespace

FolderValues::FolderValues(const ir::Graph& graph)
    : graph_(graph), readers_(ir::tensor_readers(graph)) {}

bool FolderValues::write(const std::string& path, DType dtype, const safetensors::Sink& sink) {
  const Array stored = graph_.tensors.at(path).value.as_stored();
  if (!is_floating(stored.dtype())) {
    sink(stored.bytes(), stored.byte_size());
    return true;
  }
  std::optional<Format> format;
  const auto found = readers_.find(path);
  if (found != readers_.end() && found->second.format && stored.size() > 0) {
    if (!found->second.differ)
      format = settled_format(found->second, found->second.format->deterministic(), stored);
    if (format)
      ++quantized_;
    else
      kept_.push_back(path);
  }
  if (format) {
    const Strips strips(*format, stored.shape(), strip_elements(piece_elements()));
    if (strips.count() > 1) return write_strips(stored, strips, *format, dtype, sink);
  }
  const Pieces pieces = format ? Pieces(*format, stored.shape(), piece_elements())
                               : Pieces(stored.shape(), piece_elements());
  return write_pieces(stored, pieces, format ? &*format : nullptr, dtype, sink);
}

}  // namespace mase::driver
