// SPDX-License-Identifier: Apache-2.0
// One sweep: where the batch is in every tensor, and what is joined with it there.
#include "hardware/integer/separate_batch.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "hardware/integer/lowering.hpp"

namespace mase::integer {
namespace {

/// The dimension with the batch, and how many rows each sample has in it.
struct Batch {
  std::size_t dim = 0;
  std::int64_t rows = 1;
  bool operator==(const Batch&) const = default;
};

/// Whether ops of a family may put the batch elsewhere.
bool moves_batch(ir::OpFamily family) {
  return family == ir::OpFamily::permute || family == ir::OpFamily::transpose ||
         family == ir::OpFamily::movement || family == ir::OpFamily::reshape;
}

class Separation {
 public:
  explicit Separation(const ir::Graph& graph) : before_(graph), result_{graph, {}} {
    for (const ir::NodeId id : graph.order()) visit(graph.node(id));
  }
  Separated take() { return std::move(result_); }

 private:
  void visit(const ir::Node& node) {
    if (node.kind == ir::NodeKind::output) return check_results(node);
    try {
      if (const auto batch = batch_of(node); batch && fits(node.info, *batch))
        batches_[node.id] = *batch;
    } catch (const Refusal& refusal) {
      result_.refused[node.id] = refusal.reason;
    }
    if (const Batch* batch = find(node.id); batch && batch->rows > 1) separate(node.id, *batch);
  }

  const Batch* find(ir::NodeId id) const {
    const auto found = batches_.find(id);
    return found == batches_.end() ? nullptr : &found->second;
  }

  bool fits(const ir::ValueInfo& info, const Batch& batch) const {
    if (!info.is_tensor()) return true;
    return batch.dim < info.shape.size() && info.shape[batch.dim] == samples_ * batch.rows;
  }

  /// What the first tensor that has a batch says; nothing for constants and numbers.
  std::optional<Batch> batch_of(const ir::Node& node) {
    if (node.kind == ir::NodeKind::placeholder) return batch_of_input(node);
    const std::vector<ir::NodeId> inputs = before_.inputs(node.id);
    const auto first = std::ranges::find_if(inputs, [&](ir::NodeId id) { return find(id); });
    if (first == inputs.end() || is_host_value(node)) return std::nullopt;
    const Batch from = *find(*first);
    const ir::OpFamily family = ir::classify(before_, node).family();
    if (family == ir::OpFamily::reshape && from.dim == 0) return of_first_dimension(node, from);
    if (from.rows == 1 && !moves_batch(family)) return from;
    return followed(node, from, *first, family);
  }

  std::optional<Batch> batch_of_input(const ir::Node& node) {
    if (!node.info.is_tensor() || node.info.shape.empty()) return std::nullopt;
    if (samples_ == 0) samples_ = node.info.shape[0];
    return Batch{};
  }

  /// Of a view of what has its batch in front.
  std::optional<Batch> of_first_dimension(const ir::Node& node, const Batch& from) const {
    const Shape& shape = node.info.shape;
    if (shape.empty() || samples_ == 0 || shape[0] % samples_ != 0) return without_rule(from);
    return Batch{0, shape[0] / samples_};
  }

  std::optional<Batch> followed(const ir::Node& node, const Batch& from, ir::NodeId first,
                                ir::OpFamily family) {
    using enum ir::OpFamily;
    switch (family) {
      case linear:
      case added_product:
      case layer_norm:
        return from.dim + 1 < node.info.shape.size() ? from : without_rule(from);
      case matrix_product:
        return kept(node, from, 2);
      case unary:
      case elementwise:
      case copy:
        return kept(node, from, 0);
      case softmax:
      case concatenation:
        shift_dim(node, from, node.info.shape.size());
        return kept(node, from, 0);
      case permute:
      case transpose:
        return permuted(node, from);
      case movement:
        return chosen(node, from, first);
      default:
        if (ir::classify(before_, node).op == "dropout") return from;
        return without_rule(from);
    }
  }

  /// Other ops leave the batch where it is.
  static std::optional<Batch> without_rule(const Batch& from) {
    if (from.rows == 1) return from;
    throw Refusal{
        "it reads a dimension that is joined with the batch; view it as a dimension of "
        "its own before"};
  }

  /// Of what broadcasts in front of the last `inner` dimensions. A constant there has no dimension
  /// with the batch's but one of 1 in front.
  std::optional<Batch> kept(const ir::Node& node, const Batch& from, std::size_t inner) const {
    if (from.rows == 1) return from;
    const std::size_t rank = node.info.shape.size();
    for (const ir::NodeId id : before_.inputs(node.id)) {
      const ir::ValueInfo& info = before_.node(id).info;
      if (!info.is_tensor()) continue;
      const Batch* other = find(id);
      const bool alike = other && *other == from && info.shape.size() == rank;
      if (!alike && (other || reaches(info.shape, inner, rank, from)))
        throw Refusal{"it joins tensors of which one has a dimension joined with the batch"};
    }
    return from;
  }

  static bool reaches(const Shape& shape, std::size_t inner, std::size_t rank, const Batch& batch) {
    if (shape.size() <= inner) return false;
    const std::size_t behind = rank - batch.dim;
    return shape.size() > behind || (shape.size() == behind && shape.front() != 1);
  }

  /// A dimension that a node names, counted from the front; refused where it is the batch's.
  std::size_t dim_in(const ir::Value& value, const Batch& batch, std::size_t rank) const {
    if (value.kind() != ir::Value::Kind::integer) throw Refusal{"its dimension is not constant"};
    const std::int64_t dim = value.as_int() + (value.as_int() < 0 ? std::int64_t(rank) : 0);
    if (at(dim) == batch.dim && batch.rows > 1)
      throw Refusal{"it works along a dimension that is joined with the batch"};
    return at(dim);
  }

  /// The argument `dim` counts the new dimension, too. Returns what it was.
  std::size_t shift_dim(const ir::Node& node, const Batch& batch, std::size_t rank) {
    const ir::Value* given = before_.argument(node, "dim");
    const std::size_t dim = dim_in(given ? *given : ir::Value(0), batch, rank);
    if (batch.rows > 1) set(node.id, "dim", static_cast<std::int64_t>(dim + (dim > batch.dim)));
    return dim;
  }

  void set(ir::NodeId id, const std::string& name, ir::Value value) {
    ir::Node& node = result_.graph.node(id);
    if (ir::Value* given = node.find(name))
      *given = std::move(value);
    else
      node.args.push_back({name, std::move(value)});
  }

  std::optional<Batch> permuted(const ir::Node& node, const Batch& from) {
    const auto dims = permutation(node);
    if (!dims) return without_rule(from);
    const auto place = std::ranges::find(*dims, from.dim);
    if (from.rows > 1) permute_separated(node.id, *dims, from.dim);
    return Batch{static_cast<std::size_t>(place - dims->begin()), from.rows};
  }

  void permute_separated(ir::NodeId id, const std::vector<std::size_t>& dims, std::size_t batch) {
    ir::Value::List list;
    for (const std::size_t dim : dims) {
      list.emplace_back(static_cast<std::int64_t>(dim + (dim > batch ? 1 : 0)));
      if (dim == batch) list.emplace_back(static_cast<std::int64_t>(dim) + 1);
    }
    ir::Node& node = result_.graph.node(id);
    node.op = "aten::permute";
    node.args = {{"self", *node.find("self")}, {"dims", ir::Value::list(std::move(list))}};
  }

  std::optional<std::vector<std::size_t>> permutation(const ir::Node& node) const {
    const std::size_t rank = node.info.shape.size();
    std::vector<std::size_t> dims(rank);
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    const ir::Value *a = node.find("dim0"), *b = node.find("dim1"), *all = node.find("dims");
    const Batch none{rank, 1};
    if (a && b) {
      std::swap(dims.at(dim_in(*a, none, rank)), dims.at(dim_in(*b, none, rank)));
      return dims;
    }
    if (!all || all->kind() != ir::Value::Kind::list || all->items().size() != rank)
      return std::nullopt;
    for (std::size_t d = 0; d < rank; ++d) dims[d] = dim_in(all->items()[d], none, rank);
    return dims;
  }

  /// Parts along another dimension, places of it, and what an index leaves.
  std::optional<Batch> chosen(const ir::Node& node, const Batch& from, ir::NodeId first) {
    const std::string op = ir::classify(before_, node).op;
    const ir::ValueInfo& source = before_.node(first).info;
    if (op == "getitem") return source.is_tensor() ? indexed(node, from) : from;
    const bool parts = op == "chunk" || op == "split" || op == "slice" || op == "narrow";
    const bool places = op == "unbind" || op == "select";
    if (!parts && !places) return without_rule(from);
    const std::size_t dim = shift_dim(node, from, source.shape.size());
    if (parts) return from;
    if (dim == from.dim) return std::nullopt;
    return Batch{from.dim - (dim < from.dim ? 1 : 0), from.rows};
  }

  std::optional<Batch> indexed(const ir::Node& node, const Batch& from) {
    const ir::Value& index = *node.find("index");
    const bool tuple = index.kind() == ir::Value::Kind::tuple;
    ir::Value::List items;
    std::size_t dim = 0;
    Batch batch = from;
    for (const ir::Value& item : tuple ? index.items() : ir::Value::List{index}) {
      items.push_back(item);
      const bool before = dim <= from.dim;
      if (item.is_none() && before) ++batch.dim;
      if (item.kind() == ir::Value::Kind::integer && before) {
        if (dim == from.dim) return without_rule(from);
        --batch.dim;
      }
      if (!item.is_none() && dim++ == from.dim) add_rows(items, from);
    }
    if (from.rows > 1) set(node.id, "index", ir::Value::tuple(std::move(items)));
    return batch;
  }

  /// All rows are kept where all samples are.
  static void add_rows(ir::Value::List& items, const Batch& batch) {
    if (batch.rows == 1) return;
    const ir::Value all = ir::Value::slice({}, {}, {});
    if (!(items.back() == all)) throw Refusal{"it chooses rows of the batch"};
    items.push_back(all);
  }

  void separate(ir::NodeId id, const Batch& batch) {
    ir::ValueInfo& info = result_.graph.node(id).info;
    const auto change = [&](ir::ValueInfo& tensor) {
      if (!tensor.is_tensor() || batch.dim >= tensor.shape.size()) return;
      tensor.shape[batch.dim] = batch.rows;
      tensor.shape.insert(tensor.shape.begin() + static_cast<std::ptrdiff_t>(batch.dim), samples_);
    };
    change(info);
    for (ir::ValueInfo& element : info.elements) change(element);
  }

  void check_results(const ir::Node& node) {
    for (const ir::NodeId id : before_.inputs(node.id))
      if (const Batch* batch = find(id); batch && batch->rows > 1)
        result_.refused[node.id] = "its result '" + before_.node(id).name +
                                   "' mixes rows of the batch with another dimension; view that as "
                                   "one of its own";
  }

  const ir::Graph& before_;
  Separated result_;
  std::int64_t samples_ = 0;
  std::map<ir::NodeId, Batch> batches_;
};

}  // namespace

Separated separate_batch(const ir::Graph& graph) { return Separation(graph).take(); }

}  // namespace mase::integer
