// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that join: cat and stack.
#include <algorithm>
#include <numeric>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

/// The least type that holds the values of all streams.
FixedType common_type(const Call& call, const std::vector<StreamView>& streams) {
  int frac = call.lowering.value(streams[0].id).type.frac;
  for (const StreamView& stream : streams)
    frac = std::max(frac, call.lowering.value(stream.id).type.frac);
  Interval range;
  for (const StreamView& stream : streams) {
    const FixedType& type = call.lowering.value(stream.id).type;
    if (type.width + frac - type.frac > 124)
      throw Refusal{"its inputs' fractions are too far apart for one type"};
    range = hull(range, shifted(interval_of(type), frac - type.frac));
  }
  check_width(range, 62, "the common type of its inputs");
  return type_for(range.low, range.high, frac);
}

/// Streams of a cat, each on the grid of the result where there is one: a quantizer of the result
/// acts on every element alone.
std::vector<StreamView> cat_inputs(const Call& call) {
  const ir::Value* tensors = call.node.find("tensors");
  if (!tensors || tensors->kind() == ir::Value::Kind::node)
    throw Refusal{"it joins a list that is computed; name its tensors one by one"};
  std::vector<StreamView> streams;
  for (const ir::Value& item : tensors->items())
    streams.push_back(on_result_grid(call, call.stream_of(item, "tensors")));
  if (streams.empty()) throw Refusal{"it joins nothing"};
  return streams;
}

/// What a cat of streams along a dimension gives, taken `rows` times from each in turn.
class Join {
 public:
  Join(const std::vector<StreamView>& streams, std::size_t dim) : streams_(streams), dim_(dim) {
    result_ = streams[0].layout.torch_shape;
    result_[dim] = 0;
    for (const StreamView& stream : streams) {
      Shape other = stream.layout.torch_shape;
      firsts_.push_back(result_[dim]);
      result_[dim] += other.at(dim);
      other[dim] = result_[dim];
      if (other != result_) throw Refusal{"its inputs differ in another dimension"};
    }
  }

  const Shape& result() const { return result_; }

  /// As many as give an order that layers read; else as many as keep pixels together; else one.
  std::int64_t rows() const {
    for (const Layout& usual : {channels_last(result_), row_major(result_)})
      if (const auto rows = rows_for(usual.order)) return *rows;
    const bool by_pixel = dim_ == 0 && result_.size() > 1 &&
                          std::ranges::all_of(streams_, [](const StreamView& stream) {
                            return keeps_pixels(stream.layout);
                          });
    return by_pixel ? numel(result_) / result_[0] : 1;
  }

  std::vector<std::int64_t> order(std::int64_t rows) const {
    std::vector<std::int64_t> found;
    for_each(rows, [&](std::int64_t element) {
      found.push_back(element);
      return true;
    });
    return found;
  }

 private:
  std::optional<std::int64_t> rows_for(const std::vector<std::int64_t>& order) const {
    std::int64_t common = 0;
    for (const StreamView& stream : streams_)
      common = std::gcd(common, static_cast<std::int64_t>(stream.layout.order.size()));
    for (std::int64_t rows = common; rows >= 1; --rows)
      if (common % rows == 0 && gives(rows, order)) return rows;
    return std::nullopt;
  }

  bool gives(std::int64_t rows, const std::vector<std::int64_t>& order) const {
    std::size_t i = 0;
    return for_each(rows, [&](std::int64_t element) { return order[i++] == element; });
  }

  /// f(torch element) of the result in the order of the stream, as long as f is true.
  template <class F>
  bool for_each(std::int64_t rows, F&& f) const {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::size_t s = 0; s < streams_.size(); ++s) {
        const std::vector<std::int64_t>& order = streams_[s].layout.order;
        const std::size_t count = order.size() / at(rows);
        for (std::size_t i = 0; i < count; ++i)
          if (!f(in_result(s, order[at(row) * count + i]))) return false;
      }
    return true;
  }

  std::int64_t in_result(std::size_t stream, std::int64_t element) const {
    const Shape& shape = streams_[stream].layout.torch_shape;
    const std::int64_t inner = inner_of(shape, dim_);
    const std::int64_t place = element / inner % shape[dim_] + firsts_[stream];
    return (element / inner / shape[dim_] * result_[dim_] + place) * inner + element % inner;
  }

  const std::vector<StreamView>& streams_;
  std::size_t dim_;
  Shape result_;
  std::vector<std::int64_t> firsts_;  ///< where each begins along the dimension
};

/// Streams joined along a torch dimension.
Operand joined(const Call& call, const std::vector<StreamView>& streams, std::size_t dim) {
  if (streams.size() == 1) return streams[0];
  const FixedType type = common_type(call, streams);
  const Join join(streams, dim);
  const Concat concat{join.rows()};
  std::vector<ValueId> inputs;
  for (const StreamView& stream : streams)
    inputs.push_back(call.lowering.widened(stream, type, call.node).id);
  return emit_moved(call, concat, inputs, type, arranged(join.order(concat.rows), join.result()));
}

Operand lower_cat(const Call& call) {
  const std::vector<StreamView> streams = cat_inputs(call);
  return joined(call, streams, call.frame_dim("dim", 0, streams[0].layout.torch_shape.size()));
}

/// A cat along a new dimension of 1.
Operand lower_stack(const Call& call) {
  std::vector<StreamView> streams = cat_inputs(call);
  const std::size_t dim = call.frame_dim("dim", 0, call.frame_shape().size());
  for (StreamView& stream : streams) {
    Shape shape = stream.layout.torch_shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    stream.layout = reshaped(stream.layout, shape);
  }
  return joined(call, streams, dim);
}

}  // namespace

std::vector<LoweringRow> join_rows() {
  return {
      {"cat", lower_cat, true},
      {"stack", lower_stack, true},
  };
}

}  // namespace mase::integer
