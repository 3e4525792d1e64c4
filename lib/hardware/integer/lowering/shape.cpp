// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that move nothing: reshapes and identities change how a stream is seen.
#include <algorithm>
#include <numeric>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/comparison.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/movement.hpp"
#include "ir/dimension_map.hpp"

namespace mase::integer {
namespace {

Operand lower_identity(const Call& call) { return call.stream("self"); }

Operand lower_dropout(const Call& call) {
  if (call.flag("train", false))
    throw Refusal{"it drops values in eval mode, too; pass remove_dropout takes it out"};
  return call.stream("input");
}

/// The integers of a dtype; nullopt for floats and truth values.
std::optional<Interval> integers_of(DType dtype) {
  if (is_floating(dtype) || dtype == DType::boolean) return std::nullopt;
  const bool is_signed = dtype != DType::uint8 && dtype != DType::uint16 && dtype != DType::uint32;
  const int bits = 8 * static_cast<int>(size_of(dtype));
  const Wide half = Wide{1} << (bits - 1);
  return is_signed ? Interval{-half, half - 1} : Interval{0, 2 * half - 1};
}

/// Whether all numbers of a stream are integers of a dtype; those of scaled codes are fractions.
bool are_in(const Call& call, const StreamView& x, const Interval& integers) {
  const FixedType& type = call.lowering.value(x.id).type;
  if (type.frac > 0 || call.lowering.on_codes(call.node)) return false;
  const auto [low, high] = shifted(interval_of(type), -type.frac);
  return low >= integers.low && high <= integers.high;
}

/// Whole numbers stay what they are in all types but bool that hold them. Those of a whole type are
/// taken to fit int32 and int64.
Operand lower_to(const Call& call) {
  const DType to = call.node.info.dtype;
  if (to == DType::boolean) return as_truth(call, call.stream("self"));
  if (to == DType::float32) return lower_identity(call);
  const auto integers = integers_of(to);
  if (!integers) throw Refusal{"another dtype has no datapath"};
  const ir::Node& self = call.lowering.graph().node(call.node.find("self")->node());
  const bool is_wide = to == DType::int32 || to == DType::int64;
  const bool was_whole = !is_floating(self.info.dtype);
  const StreamView x = call.stream("self");
  if (!(is_wide && was_whole) && !are_in(call, x, *integers))
    throw Refusal{"its input is not known to be whole numbers from " + wide_text(integers->low) +
                  " to " + wide_text(integers->high) + ", which " + std::string(dtype_name(to)) +
                  " has; torch.round and torch.clamp in front of it make it so"};
  return x;
}

/// One number in the shape of a stream, a constant.
Operand lower_like(const Call& call) {
  Shape shape = call.frame_shape();
  shape.insert(shape.begin(), 1);
  const std::string op = op_of(call.lowering.graph(), call.node);
  const double number = op == "full_like" ? call.number("fill_value", 0)
                        : op == "fill"    ? call.number("value", 0)
                                          : op == "ones_like";
  return call.lowering.add_constant(
      call.node.name,
      Array::from<float>(std::vector<float>(at(numel(shape)), float(number)), shape));
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

/// 0, 1, 2, ...
std::vector<std::size_t> numbered(std::size_t rank) {
  std::vector<std::size_t> dims(rank);
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  return dims;
}

/// Torch dimensions reordered: new dimension d is old dimension dims[d].
StreamView permute(const StreamView& x, const std::vector<std::size_t>& dims) {
  if (dims.empty() || dims.front() != 0) throw Refusal{"it mixes rows of the batch"};
  std::vector<std::size_t> kept;
  for (auto dim = dims.begin() + 1; dim != dims.end(); ++dim) kept.push_back(*dim - 1);
  return {x.id, permuted(x.layout, kept)};
}

Parameter permute(Parameter constant, const std::vector<std::size_t>& dims) {
  const std::vector<std::size_t> before =
      constant.dims.empty() ? numbered(dims.size()) : constant.dims;
  constant.dims.clear();
  for (const std::size_t dim : dims) constant.dims.push_back(before[dim]);
  return constant;
}

/// Dimensions of a stream, or of a constant such as a weight, in another order.
Operand lower_permute(const Call& call) {
  const auto dims = ir::permutation_of(call.lowering.graph(), call.node);
  if (!dims) throw Refusal{"its dimensions are not constant, or its input does not have them"};
  if (const Parameter* constant = call.parameter("self")) return permute(*constant, *dims);
  return permute(call.stream("self"), *dims);
}

/// The values of another tensor, whatever stood in this one before.
Operand lower_copy(const Call& call) {
  call.check_type();
  return repeated(call, on_result_grid(call, call.stream("src")), call.frame_shape(), "src");
}

}  // namespace

std::vector<LoweringRow> shape_rows() {
  std::vector<LoweringRow> rows;
  for (const char* op : {"identity", "contiguous", "clone", "detach"})
    rows.push_back({op, lower_identity, true});
  for (const char* op :
       {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "reshape_as", "view_as"})
    rows.push_back({op, lower_reshape, true});
  rows.push_back({"dropout", lower_dropout, true});
  for (const char* op : {"to", "type_as"}) rows.push_back({op, lower_to, true});
  for (const char* op : {"zeros_like", "ones_like", "full_like", "fill"})
    rows.push_back({op, lower_like});
  for (const char* op : {"transpose", "t", "mT", "permute", "numpy_T"})
    rows.push_back({op, lower_permute, true});
  rows.push_back({"copy", lower_copy, true});
  return rows;
}

}  // namespace mase::integer
