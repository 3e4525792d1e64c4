// SPDX-License-Identifier: Apache-2.0
// One sweep: where the batch is in every tensor, and what is joined with it there.
#include "hardware/integer/lowering/separate_batch.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/from_front.hpp"
#include "hardware/integer/block_levels.hpp"
#include "hardware/integer/lowering/batch_place.hpp"
#include "hardware/integer/lowering/host_numbers.hpp"
#include "hardware/integer/lowering/layout.hpp"
#include "hardware/integer/lowering/operand.hpp"
#include "ir/dimension_map.hpp"
#include "ir/op_table.hpp"

namespace mase::integer {
namespace {

/// Whether ops of a family may put the batch elsewhere.
bool moves_batch(ir::OpFamily family) {
  return family == ir::OpFamily::permute || family == ir::OpFamily::transpose ||
         family == ir::OpFamily::movement || family == ir::OpFamily::reshape;
}

class Separation {
 public:
  explicit Separation(const ir::Graph& graph) : before_(graph), result_{graph, {}, {}} {
    for (const ir::NodeId id : graph.order()) visit(graph.node(id));
  }
  Separated take() { return std::move(result_); }

 private:
  void visit(const ir::Node& node) {
    if (node.kind == ir::NodeKind::output) return check_results(node);
    try {
      if (const auto batch = batch_of(node); batch && fits(node.info, *batch))
        batches_[node.id] = *batch;
      else if (batch && batch->is_moved())
        without_rule(*batch);
      check_blocks(node);
    } catch (const Refusal& refusal) {
      result_.refused[node.id] = refusal.reason;
    }
    if (const BatchPlace* batch = find(node.id); batch && batch->is_moved())
      separate(node.id, *batch);
  }

  const BatchPlace* find(ir::NodeId id) const {
    const auto found = batches_.find(id);
    return found == batches_.end() ? nullptr : &found->second;
  }

  /// The formats of a node's ports and result share what they share in the model.
  void check_blocks(const ir::Node& node) const {
    for (const ir::Port& port : ir::ports(before_, node))
      if (const auto format = node.formats.find(port.name); format != node.formats.end())
        port.value.for_each_node([&](ir::NodeId id) { check_blocks(format->second, id); });
    const auto out = node.formats.find("data_out");
    if (out != node.formats.end()) check_blocks(out->second, node.id);
  }

  void check_blocks(const formats::Format& format, ir::NodeId id) const {
    const BatchPlace* batch = find(id);
    const Shape& shape = before_.node(id).info.shape;
    if (!batch || !batch->is_moved() || !fits(before_.node(id).info, *batch)) return;
    const auto decoding = format.decoding(shape);
    if (!decoding || !decoding->tiling) return;
    const std::vector<std::int64_t> places = moved_places(shape, *batch, samples_);
    auto blocks = blocks_of(format, shape);
    for (auto& block : blocks) {
      for (std::int64_t& element : block) element = places[integer::at(element)];
      std::ranges::sort(block);
    }
    auto moved = blocks_of(format, moved_shape(shape, *batch, samples_));
    std::ranges::sort(blocks);
    std::ranges::sort(moved);
    if (blocks != moved)
      throw Refusal{"its blocks in format '" + format.text() +
                    "' lie elsewhere in hardware, where the batch is a dimension of its own and "
                    "the first one; blocks along the last dimension have a datapath"};
  }

  bool fits(const ir::ValueInfo& info, const BatchPlace& batch) const {
    if (!info.is_tensor()) return true;
    return batch.dim < info.shape.size() && info.shape[batch.dim] == samples_ * batch.others();
  }

  /// What the first tensor that has a batch says; nothing for constants and numbers.
  std::optional<BatchPlace> batch_of(const ir::Node& node) {
    if (node.kind == ir::NodeKind::placeholder) return batch_of_input(node);
    const std::vector<ir::NodeId> inputs = before_.inputs(node.id);
    if (is_host_value(node)) {
      if (std::ranges::any_of(inputs, [&](ir::NodeId id) { return tells_batch(node, id); }))
        batch_numbers_.insert(node.id);
      return std::nullopt;
    }
    const auto first = std::ranges::find_if(inputs, [&](ir::NodeId id) { return find(id); });
    if (first == inputs.end()) return std::nullopt;
    const BatchPlace from = *find(*first);
    const ir::OpFamily family = ir::classify(before_, node).family();
    const bool moved = std::ranges::any_of(
        inputs, [&](ir::NodeId id) { return find(id) && find(id)->is_moved(); });
    if (!moved && !moves_batch(family)) return from;
    return followed(node, from, *first, family);
  }

  /// Whether a number on the host is the batch, or made from it.
  bool tells_batch(const ir::Node& number, ir::NodeId input) const {
    if (batch_numbers_.contains(input)) return true;
    const BatchPlace* batch = find(input);
    const ir::Value* dim = number.find("dim");
    if (!batch || !dim || dim->kind() != ir::Value::Kind::integer) return false;
    return from_front(dim->as_int(), before_.node(input).info.shape.size()) == batch->dim;
  }

  std::optional<BatchPlace> batch_of_input(const ir::Node& node) {
    if (!node.info.is_tensor() || node.info.shape.empty()) return std::nullopt;
    if (samples_ == 0) samples_ = node.info.shape[0];
    return BatchPlace{};
  }

  std::optional<BatchPlace> viewed(const ir::Node& node, const BatchPlace& from,
                                   ir::NodeId first) const {
    const ir::Value* sizes = node.find("size");
    if (!sizes) sizes = node.find("shape");
    const bool listed = sizes && sizes->kind() == ir::Value::Kind::list;
    const auto follows = [&](std::size_t dim) {
      if (!listed || dim >= sizes->items().size()) return false;
      const ir::Value& size = sizes->items()[dim];
      return size.is_node() && batch_numbers_.contains(size.node());
    };
    const auto place = samples_ == 0 ? std::nullopt
                                     : place_in_view(before_.node(first).info.shape, from,
                                                     node.info.shape, samples_, follows);
    return place ? place : without_rule(from);
  }

  std::optional<BatchPlace> followed(const ir::Node& node, const BatchPlace& from, ir::NodeId first,
                                     ir::OpFamily family) {
    using enum ir::OpFamily;
    switch (family) {
      case reshape:
        return viewed(node, from, first);
      case linear:
      case added_product:
        return from.dim + 1 < node.info.shape.size() ? from : without_rule(from);
      case layer_norm:
        return from.dim + normalized_dims(node) < node.info.shape.size() ? from
                                                                         : without_rule(from);
      case embedding:
      case expand:
        return from;
      case matrix_product:
        return multiplied(node, from, first);
      case reduction:
        return reduced(node, from, first);
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
      case convolution:
      case transposed_convolution:
      case contraction:
      case attention:
      case attention_layer:
      case recurrent:
      case recurrent_layer:
      case recurrent_cell:
      case batch_norm:
      case instance_norm:
      case group_norm:
      case pooling:
      case adaptive_pooling:
      case resampling:
      case channel_activation:
      case arg_reduction:
      case scan:
      case difference:
      case pad:
      case size:
      case host_value:
      case creation:
      case custom:
      case other:
        break;
    }
    return without_rule(from);
  }

  /// Other ops leave the batch where it is.
  static std::optional<BatchPlace> without_rule(const BatchPlace& from) {
    if (!from.is_moved()) return from;
    if (!from.is_joined())
      throw Refusal{"the batch is dimension " + std::to_string(from.dim) +
                    " of its input; put it in front before"};
    throw Refusal{
        "it reads a dimension that is joined with the batch; view it as a dimension of "
        "its own before"};
  }

  std::size_t normalized_dims(const ir::Node& node) const {
    const ir::Value* shape = before_.argument(node, "normalized_shape");
    const bool listed = shape && shape->kind() == ir::Value::Kind::list;
    return listed ? shape->items().size() : 1;
  }

  /// A product of rows that are not the batch's, or of the batch's with a constant.
  std::optional<BatchPlace> multiplied(const ir::Node& node, const BatchPlace& from,
                                       ir::NodeId first) {
    const std::vector<ir::NodeId> inputs = before_.inputs(node.id);
    const std::size_t rank = before_.node(first).info.shape.size();
    const bool of_rows = inputs.front() == first && (inputs.size() == 1 || !find(inputs.back()));
    if (from.is_moved() && from.dim + (of_rows ? 1 : 2) >= rank)
      throw Refusal{
          "it mixes rows of the batch, the first dimension of every input; wrap a model that takes "
          "steps first in a module that transposes its inputs and results, x.transpose(0, 1)"};
    return kept(node, from, 2);
  }

  /// The place of the batch in what broadcasts in front of the last `inner` dimensions. In a
  /// constant the batch's dimension must be one of 1, and is put in front.
  std::optional<BatchPlace> kept(const ir::Node& node, const BatchPlace& from, std::size_t inner) {
    const std::size_t rank = node.info.shape.size();
    for (const ir::NodeId id : before_.inputs(node.id)) {
      const ir::ValueInfo& info = before_.node(id).info;
      if (!info.is_tensor()) continue;
      const BatchPlace* other = find(id);
      const bool alike = other && *other == from && info.shape.size() == rank;
      if (alike) continue;
      if (other)
        throw Refusal{
            "it joins tensors of which one has a dimension joined with the batch, or the "
            "batch elsewhere"};
      const std::size_t behind = rank - from.dim;
      if (info.shape.size() <= inner || info.shape.size() < behind) continue;
      const std::size_t place = info.shape.size() - behind;
      if (info.shape[place] != 1)
        throw Refusal{"it joins tensors of which one has a dimension joined with the batch"};
      if (!from.is_joined() && place > 0) put_in_front(node.id, id, place);
    }
    return from;
  }

  /// What a node reads of a constant, with one of its dimensions in front.
  void put_in_front(ir::NodeId reader, ir::NodeId constant, std::size_t place) {
    const ir::ValueInfo& info = before_.node(constant).info;
    ir::Value::List dims{static_cast<std::int64_t>(place)};
    for (std::size_t d = 0; d < info.shape.size(); ++d)
      if (d != place) dims.emplace_back(static_cast<std::int64_t>(d));
    ir::Node node;
    node.kind = ir::NodeKind::call_method;
    node.target = "permute";
    node.op = "aten::permute";
    node.name = before_.node(constant).name + "_batch_first";
    node.args = {{"self", ir::NodeRef{constant}}, {"dims", ir::Value::list(std::move(dims))}};
    node.info = ir::ValueInfo::tensor(info.dtype, moved_shape(info.shape, {place}, 1));
    const ir::NodeId made = result_.graph.add(std::move(node), reader);
    for (ir::Argument& argument : result_.graph.node(reader).args)
      argument.value.replace_node(constant, made);
  }

  /// Where the batch's dimension is in the result; nothing when it is gone.
  std::optional<BatchPlace> placed(const ir::Node& node, const BatchPlace& from) const {
    const auto map = ir::dimension_map(before_, node);
    const auto place = map ? ir::place_of(*map, from.dim) : std::nullopt;
    if (!place) return std::nullopt;
    return BatchPlace{*place, from.before, from.rows};
  }

  /// Along dimensions that are named, one or several.
  std::optional<BatchPlace> reduced(const ir::Node& node, const BatchPlace& from,
                                    ir::NodeId first) {
    const std::size_t rank = before_.node(first).info.shape.size();
    const ir::Value* given = node.find("dim");
    if (!given || given->is_none()) return without_rule(from);
    const bool listed = given->kind() == ir::Value::Kind::list;
    ir::Value::List dims;
    for (const ir::Value& item : listed ? given->items() : ir::Value::List{*given}) {
      const std::size_t dim = dim_in(item, from, rank);
      dims.emplace_back(static_cast<std::int64_t>(from.moved(dim)));
    }
    set(node.id, "dim", listed ? ir::Value::list(dims) : dims.front());
    const auto to = placed(node, from);
    return to ? to : without_rule(from);
  }

  /// A dimension that a node names, counted from the front; refused where it is the batch's.
  std::size_t dim_in(const ir::Value& value, const BatchPlace& batch, std::size_t rank) const {
    if (value.kind() != ir::Value::Kind::integer) throw Refusal{"its dimension is not constant"};
    const auto dim = from_front(value.as_int(), rank);
    if (!dim) throw Refusal{"it names a dimension that its input does not have"};
    if (dim == batch.dim && batch.is_joined())
      throw Refusal{"it works along a dimension that is joined with the batch"};
    return *dim;
  }

  /// The argument `dim` counts the new dimension, too.
  void shift_dim(const ir::Node& node, const BatchPlace& batch, std::size_t rank) {
    const ir::Value* given = before_.argument(node, "dim");
    const std::size_t dim = dim_in(given ? *given : ir::Value(0), batch, rank);
    if (batch.is_moved()) set(node.id, "dim", static_cast<std::int64_t>(batch.moved(dim)));
  }

  void set(ir::NodeId id, const std::string& name, ir::Value value) {
    ir::Node& node = result_.graph.node(id);
    if (ir::Value* given = node.find(name))
      *given = std::move(value);
    else
      node.args.push_back({name, std::move(value)});
  }

  std::optional<BatchPlace> permuted(const ir::Node& node, const BatchPlace& from) {
    const auto dims = ir::permutation_of(before_, node);
    const auto to = placed(node, from);
    if (!dims || !to) return without_rule(from);
    if (from.is_moved() || to->is_moved()) permute_separated(node.id, *dims, from);
    return to;
  }

  void permute_separated(ir::NodeId id, const std::vector<std::size_t>& dims,
                         const BatchPlace& batch) {
    ir::Value::List list{0};
    for (const std::size_t dim : dims)
      if (dim != batch.dim || batch.is_joined())
        list.emplace_back(static_cast<std::int64_t>(batch.moved(dim)));
    ir::Node& node = result_.graph.node(id);
    node.op = "aten::permute";
    node.args = {{"self", *node.find("self")}, {"dims", ir::Value::list(std::move(list))}};
  }

  /// Parts along another dimension, places of it, and what an index leaves.
  std::optional<BatchPlace> chosen(const ir::Node& node, const BatchPlace& from, ir::NodeId first) {
    const std::string op = ir::classify(before_, node).op;
    const ir::ValueInfo& source = before_.node(first).info;
    if (op == "getitem") return source.is_tensor() ? indexed(node, from) : from;
    const bool parts = op == "chunk" || op == "split" || op == "slice" || op == "narrow";
    const bool places = op == "unbind" || op == "select";
    if (!parts && !places) return without_rule(from);
    shift_dim(node, from, source.shape.size());
    return placed(node, from);
  }

  std::optional<BatchPlace> indexed(const ir::Node& node, const BatchPlace& from) {
    const ir::Value& index = *node.find("index");
    const bool tuple = index.kind() == ir::Value::Kind::tuple;
    ir::Value::List items;
    std::size_t dim = 0;
    BatchPlace batch = from;
    for (const ir::Value& item : tuple ? index.items() : ir::Value::List{index}) {
      items.push_back(item);
      const bool before = dim <= from.dim;
      if (item.is_none() && before) ++batch.dim;
      if (item.kind() == ir::Value::Kind::integer && before) {
        if (dim == from.dim) return without_rule(from);
        --batch.dim;
      }
      if (!item.is_none() && dim++ == from.dim) take_batch(items, from);
    }
    if (!from.is_moved() && !batch.is_moved()) return batch;
    items.insert(items.begin(), ir::Value::slice({}, {}, {}));
    set(node.id, "index", ir::Value::tuple(std::move(items)));
    return batch;
  }

  /// All samples are kept; others that are joined with them stay in their place.
  static void take_batch(ir::Value::List& items, const BatchPlace& batch) {
    if (!(items.back() == ir::Value::slice({}, {}, {})))
      throw Refusal{"it chooses rows of the batch"};
    if (!batch.is_joined()) items.pop_back();
  }

  void separate(ir::NodeId id, const BatchPlace& batch) {
    ir::ValueInfo& info = result_.graph.node(id).info;
    const auto change = [&](ir::ValueInfo& tensor) {
      if (!tensor.is_tensor() || batch.dim >= tensor.shape.size()) return;
      tensor.shape = moved_shape(std::move(tensor.shape), batch, samples_);
    };
    change(info);
    for (ir::ValueInfo& element : info.elements) change(element);
    ir::Value::List sizes;
    const Shape& shape = before_.node(id).info.shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      sizes.push_back(d == batch.dim ? ir::Value() : ir::Value(shape[d]));
    result_.sizes[id] = ir::Value::list(std::move(sizes));
  }

  void check_results(const ir::Node& node) {
    for (const ir::NodeId id : before_.inputs(node.id)) {
      const BatchPlace* batch = find(id);
      if (!batch || !batch->is_moved()) continue;
      const std::string result = "its result '" + before_.node(id).name + "' ";
      result_.refused[node.id] =
          batch->is_joined()
              ? result +
                    "mixes rows of the batch with another dimension; view that as one of its own"
              : result + "has the batch as dimension " + std::to_string(batch->dim) +
                    "; the batch is not the first dimension: transpose it there";
    }
  }

  const ir::Graph& before_;
  Separated result_;
  std::int64_t samples_ = 0;
  std::map<ir::NodeId, BatchPlace> batches_;
  std::set<ir::NodeId> batch_numbers_;  ///< on the host: the batch, or made from it
};

}  // namespace

Separated separate_batch(const ir::Graph& graph) { return Separation(graph).take(); }

}  // namespace mase::integer
