// SPDX-License-Identifier: Apache-2.0
// Recognises torch.nn's recurrent layers in the calls that a scope has recorded.
#include "torch/import/recurrent.hpp"

#include <ATen/core/ivalue.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>

#include <algorithm>

#include "ir/op_table.hpp"
#include "torch/run/recurrent.hpp"

namespace mase::libtorch {
namespace {

using Refs = std::vector<Ref>;

/// What the recorded calls tell about a layer.
struct RecurrentParts {
  const RecurrentOp* op = nullptr;
  const OpCall* call = nullptr;  ///< ATen's operator; a traced cell has none
  Ref input, batch_sizes;
  std::vector<GivenState> state;  ///< h, and for an LSTM c; empty if it starts with zeros
  std::vector<std::pair<std::string, Ref>> tensors;
  std::vector<ir::Argument> attributes;
};

Ref argument_in(const OpCall& call, std::string_view name) {
  for (const auto& [argument, cell] : call.args)
    if (argument == name) return cell;
  return nullptr;
}

bool is_from_outside(const Cell& cell) {
  return cell.kind != Cell::Kind::dynamic || cell.node > ir::no_node;
}

/// Whether a call reorders rows in a given order, as torch.nn does with the state of packed
/// sequences.
bool is_reordering(const OpCall* call) {
  if (!call || call->op != "aten::index_select") return false;
  const Ref order = argument_in(*call, "index");
  return is_from_outside(*order) && is_static(*argument_in(*call, "dim"));
}

class RecurrentReader {
 public:
  RecurrentReader(const Ref& self, Builder& builder) : self_(self), builder_(builder) {}

  std::optional<RecurrentParts> read() {
    std::size_t found = 0;
    for (const OpCall* call : builder_.scope_calls())
      if (const RecurrentOp* op = find_recurrent_of_aten(call->op)) {
        parts_.op = op;
        parts_.call = call;
        ++found;
      }
    const bool known = found == 1 ? read_operator() : found == 0 && read_traced_cell();
    return known ? std::optional(std::move(parts_)) : std::nullopt;
  }

 private:
  bool read_operator() {
    const OpCall& call = *parts_.call;
    const bool packed = call.op == parts_.op->aten_packed;
    if (packed) {
      parts_.batch_sizes = source(argument_in(call, "batch_sizes"));
      if (!parts_.batch_sizes) return false;
    }
    const Ref hx = argument_in(call, "hx");
    if (!take_input(argument_in(call, packed ? "data" : "input")) ||
        !take_state(hx->items.empty() ? Refs{hx} : hx->items))
      return false;
    return parts_.op->cell ? take_cell_tensors(call, "w_ih", "w_hh", "b_ih", "b_hh")
                           : take_level_tensors(call) && take_constants(call);
  }

  /// Reads a cell that tracing has taken apart: two products with its matrices, then arithmetic.
  bool read_traced_cell() {
    const OpCall *from_input = nullptr, *from_state = nullptr, *memory = nullptr;
    for (const OpCall* call : builder_.scope_calls()) {
      if (reads(*call, "weight_ih")) from_input = call;
      if (reads(*call, "weight_hh")) from_state = call;
      if (memory_of(*call)) memory = call;
    }
    parts_.op = traced_operator();
    if (!parts_.op || !from_input || !from_state) return false;
    Refs state{argument_in(*from_state, "input")};
    if (parts_.op->has_memory()) {
      if (!memory) return false;
      state.push_back(memory_of(*memory));
    }
    take_tensor("weight_ih", argument_in(*from_input, "weight"));
    take_tensor("weight_hh", argument_in(*from_state, "weight"));
    return take_input(argument_in(*from_input, "input")) && take_state(state) &&
           take_tensor("bias_ih", argument_in(*from_input, "bias")) &&
           take_tensor("bias_hh", argument_in(*from_state, "bias"));
  }

  const RecurrentOp* traced_operator() const {
    const std::string name = class_name(self_->value);
    if (name.ends_with(".LSTMCell")) return find_recurrent("mase::lstm_cell");
    if (name.ends_with(".GRUCell")) return find_recurrent("mase::gru_cell");
    const bool relu = std::ranges::any_of(
        builder_.scope_calls(), [](const OpCall* call) { return call->op == "aten::relu"; });
    if (!name.ends_with(".RNNCell")) return nullptr;
    return find_recurrent(relu ? "mase::rnn_relu_cell" : "mase::rnn_tanh_cell");
  }

  bool reads(const OpCall& call, std::string_view tensor) const {
    if (call.op != "aten::linear") return false;
    const Ref weight = argument_in(call, "weight");
    return weight && weight->kind == Cell::Kind::attribute && is_named(*weight, tensor);
  }

  /// Whether an attribute is this tensor of the layer, or a tied one, which a trace names after the
  /// first layer that uses it. The result of the cell is compared in the end.
  static bool is_named(const Cell& attribute, std::string_view tensor) {
    return std::string_view(attribute.path).substr(attribute.path.rfind('.') + 1) == tensor;
  }

  /// The memory of an LSTM: the only factor that comes from outside the cell, or zeros.
  Ref memory_of(const OpCall& call) const {
    if (!call.op.starts_with("aten::mul")) return nullptr;
    for (const char* name : {"self", "other"}) {
      const Ref factor = argument_in(call, name);
      if (factor && (is_zeros(factor) || source(factor))) return factor;
    }
    return nullptr;
  }

  bool is_zeros(const Ref& cell) const {
    const OpCall* call = builder_.record(cell);
    return call && call->op == "aten::zeros";
  }

  /// The value from outside the layer, even if an axis of rows was added for a single sample;
  /// otherwise null.
  Ref source(const Ref& cell) const {
    if (!cell || is_container(*cell)) return nullptr;
    if (is_from_outside(*cell)) return cell->value.isTensor() ? cell : nullptr;
    const OpCall* call = builder_.record(cell);
    if (!call || call->op != "aten::unsqueeze") return nullptr;
    const Ref inner = argument_in(*call, "self");
    return is_from_outside(*inner) ? inner : nullptr;
  }

  bool take_input(const Ref& cell) {
    parts_.input = source(cell);
    return parts_.input != nullptr;
  }

  bool take_state(const Refs& state) {
    if (std::ranges::all_of(state, [&](const Ref& cell) { return is_zeros(cell); })) return true;
    for (const Ref& cell : state) {
      const OpCall* call = parts_.batch_sizes ? builder_.record(cell) : nullptr;
      if (is_reordering(call) && is_from_outside(*argument_in(*call, "self")))
        parts_.state.push_back({cell, *call});
      else
        parts_.state.push_back({source(cell), std::nullopt});
      if (!parts_.state.back().cell) return false;
    }
    return true;
  }

  /// Takes a tensor of the layer, which other layers may share. An optional tensor may be None.
  bool take_tensor(const char* argument, const Ref& cell) {
    if (!cell || cell->value.isNone()) return true;
    const bool stored = cell->kind == Cell::Kind::attribute;
    if (stored) parts_.tensors.emplace_back(argument, cell);
    return stored;
  }

  bool take_cell_tensors(const OpCall& call, const char* weight_ih, const char* weight_hh,
                         const char* bias_ih, const char* bias_hh) {
    return take_tensor("weight_ih", argument_in(call, weight_ih)) &&
           take_tensor("weight_hh", argument_in(call, weight_hh)) &&
           take_tensor("bias_ih", argument_in(call, bias_ih)) &&
           take_tensor("bias_hh", argument_in(call, bias_hh));
  }

  /// Takes ATen's `params`: matrices, biases and projection of each level and direction in turn.
  bool take_level_tensors(const OpCall& call) {
    const Refs& params = argument_in(call, "params")->items;
    const bool biases = argument_in(call, "has_biases")->value.toBool();
    std::vector<const char*> group{"weight_ih", "weight_hh"};
    if (biases) group.insert(group.end(), {"bias_ih", "bias_hh"});
    const std::size_t places = places_of_levels(call);
    if (params.size() == places * (group.size() + 1)) group.push_back("weight_hr");
    if (params.size() != places * group.size()) return false;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (!take_tensor(group[i % group.size()], params[i])) return false;
    return true;
  }

  static std::size_t places_of_levels(const OpCall& call) {
    const auto levels = argument_in(call, "num_layers")->value.toInt();
    return static_cast<std::size_t>(levels) *
           (argument_in(call, "bidirectional")->value.toBool() ? 2 : 1);
  }

  bool take_constants(const OpCall& call) {
    for (const char* name : {"num_layers", "dropout", "train", "bidirectional", "batch_first"}) {
      const Ref cell = argument_in(call, name);
      if (!cell) continue;  // packed sequences have no axis of rows
      if (!is_static(*cell)) return false;
      parts_.attributes.push_back({name, builder_.argument(cell)});
    }
    return true;
  }

  const Ref& self_;
  Builder& builder_;
  RecurrentParts parts_;
};

/// Runs the layer on the example.
c10::IValue run_layer(const RecurrentParts& parts) {
  RecurrentCall call;
  call.input = parts.input->value.toTensor();
  if (parts.batch_sizes) call.batch_sizes = parts.batch_sizes->value.toTensor();
  for (const GivenState& given : parts.state) call.state.push_back(given.cell->value.toTensor());
  const std::pair<const char*, std::vector<at::Tensor>*> lists[] = {{"weight_ih", &call.weight_ih},
                                                                    {"weight_hh", &call.weight_hh},
                                                                    {"weight_hr", &call.weight_hr},
                                                                    {"bias_ih", &call.bias_ih},
                                                                    {"bias_hh", &call.bias_hh}};
  for (const auto& [argument, cell] : parts.tensors)
    for (const auto& [name, list] : lists)
      if (argument == name) list->push_back(cell->value.toTensor());
  if (parts.call && !parts.op->cell) {
    call.num_layers = argument_in(*parts.call, "num_layers")->value.toInt();
    call.bidirectional = argument_in(*parts.call, "bidirectional")->value.toBool();
    if (!parts.batch_sizes)
      call.batch_first = argument_in(*parts.call, "batch_first")->value.toBool();
  }
  return run_recurrent(*parts.op, call);
}

/// The tensors of a result in order: output, h, c.
std::vector<at::Tensor> tensors_of_result(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& item : value.toTupleRef().elements())
    for (const at::Tensor& tensor : tensors_of_result(item)) tensors.push_back(tensor);
  return tensors;
}

class ReturnedParts {
 public:
  ReturnedParts(const RecurrentParts& parts, const Builder& builder, const c10::IValue& value)
      : parts_(parts), builder_(builder), expected_(tensors_of_result(value)) {}

  /// The part of the layer's result that each returned tensor is; nothing if one is not a part.
  /// Packed sequences are returned with their sizes and orders, which come from outside.
  std::optional<std::vector<ReturnedPart>> parts_of(const Ref& result) const {
    std::vector<ReturnedPart> found;
    bool known = true;
    for_each_leaf(result, [&](const Cell& leaf) {
      if (parts_.batch_sizes && is_from_outside(leaf)) return;
      const auto part = leaf.value.isTensor() ? part_of(leaf) : std::nullopt;
      known = known && part && is_same(expected_[part->place], computed(leaf, *part));
      if (part) found.push_back(*part);
    });
    return known ? std::optional(found) : std::nullopt;
  }

 private:
  std::optional<ReturnedPart> part_of(const Cell& leaf) const {
    const OpCall* call = builder_.record(leaf);
    ReturnedPart part;
    if (parts_.batch_sizes && is_reordering(call)) part.order = *call;
    const auto place = !parts_.call ? by_value(leaf)
                       : part.order ? by_call(*argument_in(*call, "self"))
                                    : by_call(leaf);
    if (!place || *place >= expected_.size()) return std::nullopt;
    part.place = *place;
    return part;
  }

  /// The result of the layer's operator for this part.
  static at::Tensor computed(const Cell& leaf, const ReturnedPart& part) {
    return part.order ? argument_in(*part.order, "self")->value.toTensor() : leaf.value.toTensor();
  }

  /// The index among the operator's results, even without the axis of a single sample.
  std::optional<std::size_t> by_call(const Cell& leaf) const {
    const OpCall* call = builder_.record(leaf);
    if (call == parts_.call) return 0;
    if (!call) return std::nullopt;
    if (call->op == "aten::squeeze.dim") return by_call(*argument_in(*call, "self"));
    if (call->op != "mase::getitem") return std::nullopt;
    const Ref value = argument_in(*call, "value"), index = argument_in(*call, "index");
    if (builder_.record(value) != parts_.call || !index->value.isInt()) return std::nullopt;
    return static_cast<std::size_t>(index->value.toInt());
  }

  std::optional<std::size_t> by_value(const Cell& leaf) const {
    if (expected_.size() == 2 && is_same(expected_[0], expected_[1])) return std::nullopt;
    for (std::size_t i = 0; i < expected_.size(); ++i)
      if (is_same(expected_[i], leaf.value.toTensor())) return i;
    return std::nullopt;
  }

  /// Whether tensors are equal. A cell that was taken apart changes parts of tensors in place,
  /// unlike the importer, so that the last bit of ATen's elementwise functions may differ.
  bool is_same(const at::Tensor& a, const at::Tensor& b) const {
    return parts_.call ? at::equal(a, b) : a.sizes() == b.sizes() && at::allclose(a, b, 1e-5, 1e-7);
  }

  const RecurrentParts& parts_;
  const Builder& builder_;
  std::vector<at::Tensor> expected_;
};

/// Whether a returned cell has the same nested tuples as a value.
bool has_nesting(const Ref& cell, const c10::IValue& value) {
  if (value.isTensor()) return !is_container(*cell);
  const auto& items = value.toTupleRef().elements();
  if (cell->kind != Cell::Kind::tuple || cell->items.size() != items.size()) return false;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!has_nesting(cell->items[i], items[i])) return false;
  return true;
}

LeafCall recurrent_call(const Ref& self, const RecurrentParts& parts) {
  LeafCall leaf = empty_leaf(self, std::string(parts.op->name));
  leaf.module.attributes = parts.attributes;
  for (const auto& [argument, cell] : parts.tensors)
    leaf.module.tensors.emplace_back(argument, cell->path);
  return leaf;
}

bool are_in_order(const std::vector<ReturnedPart>& parts) {
  return std::ranges::is_sorted(parts, {}, &ReturnedPart::place) &&
         std::ranges::none_of(parts,
                              [](const ReturnedPart& part) { return part.order.has_value(); });
}

}  // namespace

bool is_recurrent(const std::string& class_name) {
  const ir::LayerRow* row = ir::find_module_class(class_name);
  const ir::OpFamily family = row ? ir::family_of(row->op) : ir::OpFamily::other;
  return family == ir::OpFamily::recurrent_layer || family == ir::OpFamily::recurrent_cell;
}

std::optional<RecurrentLeaf> recurrent_leaf(const Ref& self, const Ref& result, Builder& builder) {
  if (!builder.changes_nothing_outside()) return std::nullopt;
  const std::optional<RecurrentParts> parts = RecurrentReader(self, builder).read();
  if (!parts) return std::nullopt;
  RecurrentLeaf found;
  found.value = run_layer(*parts);
  const auto returned = ReturnedParts(*parts, builder, found.value).parts_of(result);
  if (!returned) return std::nullopt;
  found.parts = *returned;
  found.whole = has_nesting(result, found.value) && are_in_order(found.parts) &&
                found.parts.size() == tensors_of_result(found.value).size();
  found.call = recurrent_call(self, *parts);
  found.input = parts->input;
  found.batch_sizes = parts->batch_sizes;
  found.state = parts->state;
  return found;
}

Ref place_leaf(const RecurrentLeaf& found, Builder& builder) {
  ir::Node node = found.call.node;
  node.args.push_back({"input", builder.argument(found.input)});
  ir::Value::List state;
  for (const GivenState& given : found.state)
    state.push_back(builder.argument(given.order ? builder.emit(*given.order) : given.cell));
  if (state.size() == 1) node.args.push_back({"hx", state[0]});
  if (state.size() == 2) node.args.push_back({"hx", ir::Value::tuple(std::move(state))});
  if (found.batch_sizes) node.args.push_back({"batch_sizes", builder.argument(found.batch_sizes)});
  return builder.add_leaf(std::move(node), found.value);
}

Ref unpacked(const RecurrentLeaf& found, const Ref& result, const Ref& leaf, Builder& builder) {
  Refs tensors;
  const auto unpack = [&](const Ref& cell, const auto& again) -> void {
    if (cell->value.isTensor()) return tensors.push_back(cell);
    const auto items = cell->value.toTupleRef().elements();
    Refs read;
    for (std::size_t i = 0; i < items.size(); ++i)
      read.push_back(builder.get_item(cell, static_cast<std::int64_t>(i), items[i]));
    for (const Ref& item : read) again(item, again);
  };
  unpack(leaf, unpack);
  auto part = found.parts.begin();
  const auto replaced = [&](const Ref& cell, const auto& again) -> Ref {
    if (is_container(*cell)) {
      Cell container = *cell;
      for (Ref& item : container.items) item = again(item, again);
      return make_cell(std::move(container));
    }
    if (is_from_outside(*cell)) return cell;
    const ReturnedPart& returned = *part++;
    if (!returned.order) return tensors[returned.place];
    OpCall order = *returned.order;
    for (auto& [name, argument] : order.args)
      if (name == "self") argument = tensors[returned.place];
    return builder.emit(std::move(order));
  };
  return replaced(result, replaced);
}

}  // namespace mase::libtorch
