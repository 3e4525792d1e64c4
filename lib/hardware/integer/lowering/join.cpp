// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that join: cat and stack.
#include <algorithm>
#include <numeric>

#include "hardware/integer/lowering/arithmetic.hpp"
#include "hardware/integer/lowering/call.hpp"
#include "hardware/integer/lowering/lowering_table.hpp"
#include "hardware/integer/lowering/matrix.hpp"
#include "hardware/integer/lowering/movement.hpp"

namespace mase::integer {
namespace {

/// What a cat joins: a stream, or constants in the order of the layout.
struct Piece {
  Layout layout;
  ValueId stream = -1;  ///< -1: constants
  Constants constants = {};

  bool is_stream() const { return stream >= 0; }
};

const FixedType& type_of(const Call& call, const Piece& piece) {
  return piece.is_stream() ? call.lowering.value(piece.stream).type : piece.constants.type;
}

/// The least type that holds the values of all pieces.
FixedType common_type(const Call& call, const std::vector<Piece>& pieces) {
  int frac = type_of(call, pieces[0]).frac;
  for (const Piece& piece : pieces) frac = std::max(frac, type_of(call, piece).frac);
  Interval range;
  for (const Piece& piece : pieces) {
    const FixedType& type = type_of(call, piece);
    if (type.width + frac - type.frac > 124)
      throw Refusal{"its inputs' fractions are too far apart for one type"};
    range = hull(range, shifted(interval_of(type), frac - type.frac));
  }
  check_width(range, 62, "the common type of its inputs");
  return type_for(range.low, range.high, frac);
}

Piece piece_of(const Call& call, const ir::Value& item) {
  if (const Parameter* parameter = call.parameter_in(item)) {
    Constants constants = call.frame_constants(*parameter, call.lowering.target(call.node));
    return {row_major(constants.shape), -1, std::move(constants)};
  }
  const StreamView stream = on_result_grid(call, call.stream_of(item, "tensors"));
  if (call.lowering.masked(stream.id))
    throw Refusal{"one of its inputs has masks; mask what it joins"};
  return {stream.layout, stream.id};
}

/// Constants may have any order: that of the streams beside them.
void arrange_constants(std::vector<Piece>& pieces) {
  const auto first = std::ranges::find_if(pieces, &Piece::is_stream);
  if (first == pieces.end())
    throw Refusal{"it joins constants only; pass fold_constants computes them"};
  if (!is_channels_last(first->layout)) return;
  for (Piece& piece : pieces) {
    if (piece.is_stream()) continue;
    piece.layout = channels_last(piece.layout.torch_shape);
    const Codes codes = piece.constants.codes;
    for (std::size_t i = 0; i < codes.size(); ++i)
      piece.constants.codes[i] = codes[at(piece.layout.order[i])];
  }
}

/// The pieces of a cat, each on the grid of the result where there is one: a quantizer of the
/// result acts on every element alone.
std::vector<Piece> pieces_of(const Call& call) {
  const ir::Value* tensors = call.node.find("tensors");
  if (!tensors || tensors->kind() == ir::Value::Kind::node)
    throw Refusal{"it joins a list that is computed; name its tensors one by one"};
  std::vector<Piece> pieces;
  for (const ir::Value& item : tensors->items()) pieces.push_back(piece_of(call, item));
  if (pieces.empty()) throw Refusal{"it joins nothing"};
  arrange_constants(pieces);
  return pieces;
}

/// What a cat of pieces along a dimension gives, taken `rows` times from each in turn.
class Join {
 public:
  Join(const std::vector<Piece>& pieces, std::size_t dim) : pieces_(pieces), dim_(dim) {
    result_ = pieces[0].layout.torch_shape;
    result_[dim] = 0;
    for (const Piece& piece : pieces) {
      Shape other = piece.layout.torch_shape;
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
    const bool by_pixel =
        dim_ == 0 && result_.size() > 1 &&
        std::ranges::all_of(pieces_, [](const Piece& piece) { return keeps_pixels(piece.layout); });
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
    for (const Piece& piece : pieces_)
      common = std::gcd(common, static_cast<std::int64_t>(piece.layout.order.size()));
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
      for (std::size_t s = 0; s < pieces_.size(); ++s) {
        const std::vector<std::int64_t>& order = pieces_[s].layout.order;
        const std::size_t count = order.size() / at(rows);
        for (std::size_t i = 0; i < count; ++i)
          if (!f(in_result(s, order[at(row) * count + i]))) return false;
      }
    return true;
  }

  std::int64_t in_result(std::size_t piece, std::int64_t element) const {
    const Shape& shape = pieces_[piece].layout.torch_shape;
    const std::int64_t inner = inner_of(shape, dim_);
    const std::int64_t place = element / inner % shape[dim_] + firsts_[piece];
    return (element / inner / shape[dim_] * result_[dim_] + place) * inner + element % inner;
  }

  const std::vector<Piece>& pieces_;
  std::size_t dim_;
  Shape result_;
  std::vector<std::int64_t> firsts_;  ///< where each begins along the dimension
};

/// A stream and the constants that stand around it.
struct Group {
  StreamView stream;
  std::vector<const Constants*> before, after;

  bool has_constants() const { return !before.empty() || !after.empty(); }
};

/// Constants belong to the stream before them, those in front of all to the first one.
std::vector<Group> groups_of(const std::vector<Piece>& pieces) {
  std::vector<Group> groups;
  std::vector<const Constants*> first;
  for (const Piece& piece : pieces) {
    if (piece.is_stream())
      groups.push_back({{piece.stream, piece.layout},
                        groups.empty() ? first : std::vector<const Constants*>(),
                        {}});
    else
      (groups.empty() ? first : groups.back().after).push_back(&piece.constants);
  }
  return groups;
}

/// The constants of one of so many rows at a type's binary point. Returns how many.
std::int64_t append_row(Codes& codes, const std::vector<const Constants*>& pieces, int frac,
                        std::int64_t row, std::int64_t rows) {
  const std::size_t size = codes.size();
  for (const Constants* constants : pieces) {
    const std::int64_t count = static_cast<std::int64_t>(constants->codes.size()) / rows;
    for (std::int64_t i = row * count; i < (row + 1) * count; ++i)
      codes.push_back(constants->codes[at(i)] * (std::int64_t{1} << (frac - constants->type.frac)));
  }
  return static_cast<std::int64_t>(codes.size() - size);
}

/// Leaves one row where all are alike and stay so.
void shorten(Insert& insert, const Lowering& lowering) {
  const std::size_t row = at(insert.before + insert.after);
  const auto differs = [&](std::size_t i) { return insert.codes[i] != insert.codes[i % row]; };
  if (lowering.reloadable()) return;
  for (std::size_t i = row; i < insert.codes.size(); ++i)
    if (differs(i)) return;
  insert.codes.resize(row);
}

Insert insert_of(const Call& call, const Group& group, const FixedType& type, std::int64_t rows) {
  Insert insert{rows};
  for (std::int64_t row = 0; row < rows; ++row) {
    insert.before = append_row(insert.codes, group.before, type.frac, row, rows);
    insert.after = append_row(insert.codes, group.after, type.frac, row, rows);
  }
  shorten(insert, call.lowering);
  return insert;
}

/// The group as one of the streams that are joined.
ValueId whole_group(const Call& call, const Group& group, ValueId stream, const FixedType& type,
                    std::int64_t rows) {
  if (!group.has_constants()) return stream;
  Insert insert = insert_of(call, group, type, rows);
  const std::int64_t elements =
      call.lowering.value(stream).elements() + rows * (insert.before + insert.after);
  return call.lowering
      .emit_before(call.node, "constants", std::move(insert), {stream},
                   {interval_of(type), type.frac}, unchanged(type), row_major({elements}))
      .id;
}

/// Pieces joined along a torch dimension.
Operand joined(const Call& call, const std::vector<Piece>& pieces, std::size_t dim) {
  if (pieces.size() == 1) return StreamView{pieces[0].stream, pieces[0].layout};
  const FixedType type = common_type(call, pieces);
  const Join join(pieces, dim);
  const std::int64_t rows = join.rows();
  const std::vector<Group> groups = groups_of(pieces);
  Layout layout = arranged(join.order(rows), join.result());
  const auto widened = [&](const Group& group) {
    return call.lowering.widened(group.stream, type, call.node).id;
  };
  if (groups.size() == 1)
    return emit_moved(call, insert_of(call, groups[0], type, rows), {widened(groups[0])}, type,
                      std::move(layout));
  std::vector<ValueId> inputs;
  for (const Group& group : groups)
    inputs.push_back(whole_group(call, group, widened(group), type, rows));
  return emit_moved(call, Concat{rows}, inputs, type, std::move(layout));
}

Operand lower_cat(const Call& call) {
  const std::vector<Piece> pieces = pieces_of(call);
  return joined(call, pieces, call.frame_dim("dim", 0, pieces[0].layout.torch_shape.size()));
}

/// A cat along a new dimension of 1.
Operand lower_stack(const Call& call) {
  std::vector<Piece> pieces = pieces_of(call);
  const std::size_t dim = call.frame_dim("dim", 0, call.frame_shape().size());
  for (Piece& piece : pieces) {
    Shape shape = piece.layout.torch_shape;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    piece.layout = reshaped(piece.layout, shape);
  }
  return joined(call, pieces, dim);
}

}  // namespace

std::vector<LoweringRow> join_rows() {
  return {
      {"cat", lower_cat, true},
      {"stack", lower_stack, true},
  };
}

}  // namespace mase::integer
