// SPDX-License-Identifier: Apache-2.0
// Decides whether the codes of a tensor determine everything that its readers read.
#include "checkpoint/coded_tensors.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "ir/masks.hpp"
#include "ir/tensor_readers.hpp"

namespace mase::checkpoint {
namespace {

using formats::Encoded;
using formats::Format;

bool is_same(const Encoded& a, const Encoded& b) {
  return a.codes == b.codes && a.shared == b.shared && std::ranges::equal(a.scales, b.scales);
}

/// Whether a table for decoding is smaller than the tensor.
bool is_worth_table(const formats::Decoding& decoding, const Array& value) {
  return decoding.bits <= 8 || decoding.elements.size() < static_cast<std::size_t>(value.size());
}

Array quantized(const Format& format, const Array& value) {
  Array out(DType::float32, value.shape());
  format.quantize(value.span<float>(), out.mutable_span<float>(), value.shape());
  return out;
}

Array decoded(const Format& format, const Encoded& encoded, const Shape& shape) {
  Array out(DType::float32, shape);
  format.decode(encoded, out.mutable_span<float>(), shape);
  return out;
}

std::optional<Encoded> encoded(const Format& format, const Array& value) {
  try {
    return format.encode(value.span<float>(), value.shape());
  } catch (const Error&) {  // NaN, or a format without codes: keep the floats
    return std::nullopt;
  }
}

/// The rows that a reader reads.
Array rows_of(const Array& value, const std::pair<std::int64_t, std::int64_t>& part) {
  const bool is_whole = value.shape().empty() || part.second == value.shape().front();
  return is_whole ? value : value.rows(part.first, part.second);
}

/// Whether every reader computes the same from the decoded values as from the tensor itself, and
/// quantizing the decoded values again does not change them.
bool say_all(const ir::TensorReaders& readers, const Format& format, const Array& value,
             const Array& meant) {
  return std::ranges::all_of(readers.parts, [&](const auto& part) {
    const Array rows = rows_of(meant, part);
    return rows.same_bits(quantized(format, rows_of(value, part))) &&
           rows.same_bits(quantized(format, rows));
  });
}

/// Encodes a tensor if its codes are sufficient. Readers of a checkpoint draw no random numbers.
void code(ir::Tensor& tensor, const ir::TensorReaders& readers) {
  const Format format = readers.format->deterministic();
  const Array& value = tensor.value;
  if (value.dtype() != DType::float32 || value.size() == 0) return;
  const auto decoding = format.decoding(value.shape());
  if (!decoding || !is_worth_table(*decoding, value)) return;
  std::optional<Encoded> codes = encoded(format, value);
  if (!codes) return;
  Array meant = decoded(format, *codes, value.shape());
  if (!say_all(readers, format, value, meant)) return;
  const auto again = encoded(format, meant);
  if (!again || !is_same(*again, *codes)) return;
  tensor.value = std::move(meant);
  tensor.coded = std::make_shared<ir::CodedTensor>(ir::CodedTensor{format, std::move(*codes)});
}

/// Masks have no codes.
std::set<std::string> mask_tensors(const ir::Graph& graph) {
  const ir::Masks masks(graph);
  std::set<std::string> paths;
  for (const ir::NodeId id : graph.order())
    if (const ir::Node& node = graph.node(id); node.kind == ir::NodeKind::get_attr && masks.in(id))
      paths.insert(node.target);
  return paths;
}

}  // namespace

ir::Graph with_codes_alone(const ir::Graph& graph) {
  ir::Graph coded = graph;
  const std::set<std::string> masks = mask_tensors(graph);
  for (const auto& [path, readers] : ir::tensor_readers(graph))
    if (!readers.differ && readers.format && !masks.contains(path))
      code(coded.tensors.at(path), readers);
  return coded;
}

}  // namespace mase::checkpoint
