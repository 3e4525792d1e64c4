// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that move nothing: reshapes and identities change how a stream is seen.
#include <algorithm>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

Operand lower_identity(const Call& call) { return call.permuted_stream("self"); }

Operand lower_dropout(const Call& call) {
  if (call.flag("train", false))
    throw Refusal{"it drops values in eval mode, too; pass remove_dropout takes it out"};
  return call.stream("input");
}

Operand lower_to(const Call& call) {
  if (call.node.info.dtype != DType::float32) throw Refusal{"another dtype has no datapath"};
  return lower_identity(call);
}

/// Any reshape: row-major positions stay, so only the torch shape changes. The batch dimension is
/// kept when its size is: rows of the batch are the slowest part of a row-major position.
Operand lower_reshape(const Call& call) {
  const StreamView x = call.stream("self");
  const Shape frame = call.frame_shape();
  const ir::Value& source = *call.node.find("self");
  const Shape& before = call.lowering.graph().node(source.node()).info.shape;
  if (before.empty() || before[0] != call.node.info.shape[0] ||
      numel(frame) != numel(x.layout.torch_shape))
    throw Refusal{"it mixes rows of the batch"};
  return StreamView{x.id, reshaped(x.layout, frame)};
}

/// Torch dimensions reordered, the batch among them: new dimension d is old dimension dims[d].
Operand permute(const StreamView& x, const std::vector<std::size_t>& dims) {
  StreamView result{x.id, {}};
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == x.batch)
      result.batch = d;
    else
      kept.push_back(x.frame_dim(dims[d]));
  }
  result.layout = permuted(x.layout, kept);
  return result;
}

Operand lower_transpose(const Call& call) {
  const StreamView x = call.permuted_stream("self");
  const std::size_t rank = x.layout.torch_shape.size() + 1;
  std::vector<std::size_t> dims(rank);
  for (std::size_t d = 0; d < rank; ++d) dims[d] = d;
  std::swap(dims[call.torch_dim("dim0", 0, rank)], dims[call.torch_dim("dim1", 0, rank)]);
  return permute(x, dims);
}

Operand lower_permute(const Call& call) {
  const StreamView x = call.permuted_stream("self");
  const auto rank = static_cast<std::int64_t>(x.layout.torch_shape.size()) + 1;
  const Shape given = call.integers("dims", static_cast<std::size_t>(rank), {});
  std::vector<std::size_t> dims;
  for (const std::int64_t dim : given) {
    if (dim < -rank || dim >= rank) throw Refusal{"it names a dimension that its input has not"};
    dims.push_back(static_cast<std::size_t>((dim + rank) % rank));
  }
  return permute(x, dims);
}

}  // namespace

std::vector<LoweringRow> shape_rows() {
  std::vector<LoweringRow> rows;
  for (const char* op : {"identity", "contiguous", "clone", "detach"})
    rows.push_back({op, lower_identity, true});
  for (const char* op : {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze"})
    rows.push_back({op, lower_reshape, true});
  rows.push_back({"dropout", lower_dropout, true});
  rows.push_back({"to", lower_to, true});
  rows.push_back({"transpose", lower_transpose, true});
  rows.push_back({"permute", lower_permute, true});
  return rows;
}

}  // namespace mase::integer
