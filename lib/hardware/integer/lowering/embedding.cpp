// SPDX-License-Identifier: Apache-2.0
// Lowering of embeddings: token ids, a stream of whole numbers, choose rows of a table. An id
// beyond the table is an error in a batch, as LibTorch's; codes of such, and the hardware, read its
// last row.
#include "hardware/integer/lowering/embedding.hpp"

#include <algorithm>

#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/movement.hpp"

namespace mase::integer {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 24;

const Array& table_of(const ir::Graph& graph, const ir::Node& node) {
  const std::string* path = graph.tensor_of(node, "weight");
  if (!path) throw Refusal{"its table is computed; a stored one has a datapath"};
  return graph.tensors.at(*path).value;
}

/// The codes of the table on the grid of the result, where there is one; else of its own format.
Constants codes_of_table(const Call& call) {
  const auto grid = call.lowering.target(call.node);
  if (!call.format("weight") && grid) return call.constants_on("weight", *grid);
  Constants table = call.constants("weight", true);
  if (!grid || holds(grid->type, table.type)) return table;
  const Requantise requantise = to_grid({table.range(), table.type.frac}, *grid);
  for (std::int64_t& code : table.codes) code = static_cast<std::int64_t>(requantise(code));
  if (table.any) table.any = {requantise.low, requantise.high};
  table.fit(grid->type.frac);
  return table;
}

Operand lower_embedding(const Call& call) {
  const Array& values = table_of(call.lowering.graph(), call.node);
  if (values.size() > most_elements)
    throw Refusal{"its table has " + std::to_string(values.size()) + " elements, more than the " +
                  std::to_string(most_elements) +
                  " of a datapath; feed the embeddings from outside (pass extract, from the nodes "
                  "that read '" +
                  call.node.name + "' on)"};
  StreamView ids = call.raw_stream("indices");
  if (call.lowering.value(ids.id).type.frac != 0)
    throw Refusal{"its indices are not the integers of an int64 input"};
  if (call.lowering.value(ids.id).type.is_signed)  // as what is compared with 0 is
    ids = call.lowering.cast(ids,
                             {type_for(0, std::max<std::int64_t>(1, values.shape()[0] - 1), 0),
                              formats::Rounding::nearest_even},
                             call.node, "indices");
  Constants table = codes_of_table(call);
  const FixedType to =
      table.any ? type_for(table.any->low, table.any->high, table.type.frac) : table.type;
  const Layout in_order = row_major(ids.layout.torch_shape);
  const StreamView ready = call.lowering.reordered(ids, in_order, call.node, "indices");
  return emit_moved(call, Embedding{values.shape().back(), std::move(table.codes)}, {ready.id}, to,
                    row_major(call.frame_shape()));
}

}  // namespace

std::optional<FixedType> id_type(const ir::Graph& graph, const ir::Node& reader, ir::NodeId id) {
  const ir::Value* indices = reader.find("indices");
  if (op_of(graph, reader) != "embedding" || !indices || !indices->is_node() ||
      indices->node() != id)
    return std::nullopt;
  const std::string* path = graph.tensor_of(reader, "weight");
  if (!path) return std::nullopt;
  return type_for(0, std::max<std::int64_t>(1, graph.tensors.at(*path).value.shape()[0] - 1), 0);
}

std::vector<LoweringRow> embedding_rows() { return {{"embedding", lower_embedding}}; }

}  // namespace mase::integer
