// SPDX-License-Identifier: Apache-2.0
// Operators in place: x.relu_() becomes a new tensor, and every name that shares memory with x is
// computed again from it when a node reads it. The graph knows no memory, only values.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "pt2/fields.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {
namespace {

/// How the tensor that a view was taken from is made from the view's new values.
enum class Undo { same, itself, order, shape, scatter, part };
struct ViewRow {
  std::string_view op;
  Undo undo;
  std::string_view scatter = {};
};
constexpr ViewRow view_rows[] = {
    {"aten::alias", Undo::same},
    {"aten::detach", Undo::same},
    {"aten::contiguous", Undo::same},
    {"aten::to.dtype", Undo::same},
    {"aten::type_as", Undo::same},
    {"aten::dropout", Undo::same},
    {"aten::alpha_dropout", Undo::same},
    {"aten::feature_dropout", Undo::same},
    {"aten::feature_alpha_dropout", Undo::same},
    {"aten::transpose.int", Undo::itself},
    {"aten::swapaxes", Undo::itself},
    {"aten::t", Undo::itself},
    {"aten::permute", Undo::order},
    {"aten::view", Undo::shape},
    {"aten::_unsafe_view", Undo::shape},
    {"aten::reshape", Undo::shape},
    {"aten::reshape_as", Undo::shape},
    {"aten::ravel", Undo::shape},
    {"aten::view_as", Undo::shape},
    {"aten::flatten.using_ints", Undo::shape},
    {"aten::unflatten.int", Undo::shape},
    {"aten::squeeze", Undo::shape},
    {"aten::squeeze.dim", Undo::shape},
    {"aten::squeeze.dims", Undo::shape},
    {"aten::unsqueeze", Undo::shape},
    {"aten::select.int", Undo::scatter, "aten::select_scatter"},
    {"aten::slice.Tensor", Undo::scatter, "aten::slice_scatter"},
    {"aten::narrow", Undo::part, "aten::slice_scatter"},
    {"aten::diagonal", Undo::scatter, "aten::diagonal_scatter"},
};

/// Operators that return their input in eval mode. Their signatures do not say so.
constexpr std::string_view dropouts[] = {"aten::dropout", "aten::alpha_dropout",
                                         "aten::feature_dropout", "aten::feature_alpha_dropout"};
/// Operators that return their input if it has the wanted type.
constexpr std::string_view conversions[] = {"aten::to", "aten::type_as"};

/// Operators that copy unless the elements already lie as they are wanted.
constexpr std::string_view may_copy[] = {"aten::contiguous", "aten::reshape", "aten::reshape_as",
                                         "aten::ravel", "aten::flatten.using_ints"};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

constexpr std::string_view remedy =
    "; export it with program.run_decompositions({}), which replaces operators in place";

const ViewRow* view_row(std::string_view op) {
  const auto* row = std::ranges::find(view_rows, op, &ViewRow::op);
  return row == std::end(view_rows) ? nullptr : row;
}

std::vector<ir::Argument> without_first(const std::vector<ir::Argument>& args) {
  return {args.begin() + 1, args.end()};
}

/// The order of dimensions that undoes another.
ir::Value inverse(const ir::Value& order) {
  const auto count = static_cast<std::int64_t>(order.items().size());
  std::vector<std::int64_t> undone(order.items().size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = order.items()[static_cast<std::size_t>(i)].as_int();
    const std::int64_t place = from < 0 ? from + count : from;
    if (place < 0 || place >= count) file_error("a permute has a dimension that does not exist");
    undone[static_cast<std::size_t>(place)] = i;
  }
  ir::Value::List items(undone.begin(), undone.end());
  return ir::Value::list(std::move(items));
}

}  // namespace

const std::string& Importer::memory_of(const std::string& name) const {
  const auto same = same_memory_.find(name);
  return same == same_memory_.end() ? name : same->second;
}

bool Importer::shares_memory(const Call& call, const std::string& from,
                             const std::string& result) const {
  if (is_one_of(dropouts, call.op)) {
    const ir::Value* train = call.find("train");
    return train && *train == ir::Value(false);
  }
  if (is_one_of(conversions, ir::base_op(call.op))) {
    const ir::Value* copy = call.find("copy");
    const auto before = program_.tensors.find(from), after = program_.tensors.find(result);
    return (!copy || *copy != ir::Value(true)) && before != program_.tensors.end() &&
           after != program_.tensors.end() && before->second.dtype == after->second.dtype;
  }
  return !call.schema->arguments[0].alias.empty();
}

void Importer::note_memory(const Call& call) {
  if (!call.schema || call.schema->arguments.empty() || call.node->outputs.size() != 1 ||
      call.node->inputs.empty())
    return;
  const std::vector<std::string> from = names_in(call.node->inputs[0].value);
  if (from.size() != 1) return;
  for (const std::string& result : names_in(call.node->outputs[0]))
    if (shares_memory(call, from[0], result)) note_view(result, memory_of(from[0]), *call.node);
}

void Importer::note_view(const std::string& name, const std::string& base, const Node& node) {
  if (views_.emplace(name, View{base, &node}).second) views_of_[base].push_back(name);
}

void Importer::change_memory(const std::string& name, ir::NodeId value, const Node& node) {
  if (state_.contains(name) && !slots_[name].path.empty())
    changed_tensors_.insert(slots_[name].path);
  slots_[name] = {ir::NodeRef{value}, ""};
  stale_.erase(name);
  const auto view = views_.find(name);
  if (view != views_.end()) {
    const View taken = view->second;
    if (taken.node->outputs.size() != 1 || names_in(taken.node->outputs[0]).size() != 1)
      refuse(node, "it changes one of the parts that " + taken.node->target + " gives, in place" +
                       std::string(remedy));
    change_memory(taken.base, undone(taken, value, node), node);
    stale_.erase(name);
    slots_[name] = {ir::NodeRef{value}, ""};
    return;
  }
  mark_views(name);
}

void Importer::mark_views(const std::string& base) {
  const auto views = views_of_.find(base);
  if (views == views_of_.end()) return;
  for (const std::string& name : views->second) {
    stale_.insert(name);
    mark_views(name);
  }
}

ir::NodeId Importer::undone(const View& view, ir::NodeId value, const Node& node) {
  Call call = call_of(*view.node);
  const ViewRow* row = view_row(call.op);
  if (!row)
    refuse(node, "it changes a tensor in place that " + view.node->target + " took from another" +
                     std::string(remedy));
  if (is_one_of(may_copy, call.op) && !is_contiguous(view.base))
    refuse(node, "it changes the result of " + view.node->target +
                     " in place, which is a copy or not, depending on sizes" + std::string(remedy));
  const auto make = [&](std::string_view op, std::vector<ir::Argument> args) {
    for (ir::Argument& argument : args) read_tensors(argument.value);
    ir::Node made;
    const ir::CallRow* known = ir::find_call(ir::base_op(op));
    made.kind = known ? known->kind : ir::NodeKind::call_function;
    made.target =
        known ? std::string(known->target) : "torch." + std::string(ir::base_op(op).substr(6));
    made.op = op;
    made.args = std::move(args);
    return add(std::move(made), node);
  };
  const ir::Value changed = ir::NodeRef{value};
  std::vector<ir::Argument> args{{"self", changed}};
  switch (row->undo) {
    case Undo::same:
      return value;
    case Undo::itself:
      std::ranges::copy(without_first(call.args), std::back_inserter(args));
      return make(call.op, std::move(args));
    case Undo::order:
      return make(call.op, {{"self", changed}, {"dims", inverse(call.args.at(1).value)}});
    case Undo::shape:
      return make("aten::reshape_as", {{"self", changed}, {"other", call.args.at(0).value}});
    case Undo::scatter:
      args = {{"self", call.args.at(0).value}, {"src", changed}};
      std::ranges::copy(without_first(call.args), std::back_inserter(args));
      return make(row->scatter, std::move(args));
    case Undo::part: {
      const ir::Value &start = call.args.at(2).value, &length = call.args.at(3).value;
      if (start.kind() != ir::Value::Kind::integer || length.kind() != ir::Value::Kind::integer)
        break;
      constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
      const std::int64_t end = start.as_int() + length.as_int();
      return make(row->scatter, {{"self", call.args.at(0).value},
                                 {"src", changed},
                                 {"dim", call.args.at(1).value},
                                 {"start", start},
                                 {"end", end == 0 && start.as_int() < 0 ? last : end}});
    }
  }
  refuse(node, "it changes a view in place" + std::string(remedy));
}

void Importer::refresh(const std::string& name) {
  const std::string memory = memory_of(name);
  if (!stale_.contains(memory)) return;
  const View view = views_.at(memory);
  if (is_one_of(may_copy, operator_of(view.node->target)) && !is_contiguous(view.base))
    refuse(*view.node,
           "its result is read after its input was changed in place, and it is a copy "
           "or not, depending on sizes" +
               std::string(remedy));
  for (const std::string& result : names_in(view.node->outputs.at(0))) {
    stale_.erase(result);
    slots_.erase(result);
  }
  add_call(call_of(*view.node));
}

bool Importer::is_contiguous(const std::string& name) const {
  const auto found = program_.tensors.find(name);
  if (found == program_.tensors.end()) return false;
  const TensorInfo& info = found->second;
  if (info.strides.size() != info.sizes.size()) return false;
  std::int64_t wanted = 1;
  for (std::size_t d = info.sizes.size(); d-- > 0;) {
    const auto size = info.sizes[d].value, stride = info.strides[d].value;
    if (!size || !stride) return false;
    if (*size != 1 && *stride != wanted) return false;
    wanted *= *size;
  }
  return true;
}

bool Importer::changes_memory(const Call& call) {
  return call.schema && !call.schema->arguments.empty() && call.schema->arguments[0].changes;
}

bool Importer::copies_itself(const Call& call) {
  if (call.op != "aten::copy_") return false;
  const Node& node = *call.node;
  const std::vector<std::string> to = names_in(node.inputs.at(0).value),
                                 from = names_in(node.inputs.at(1).value);
  if (to.size() != 1 || from.size() != 1 || memory_of(to[0]) != memory_of(from[0])) return false;
  for (const std::string& result : names_in(node.outputs.at(0)))
    same_memory_[result] = memory_of(to[0]);
  return true;
}

std::string Importer::take_out_of_place(Call& call) {
  const std::vector<std::string> from = names_in(call.node->inputs.at(0).value);
  if (from.size() != 1) refuse(*call.node, "it changes several tensors" + std::string(remedy));
  const std::string base(ir::base_op(call.op));
  const std::string plain = std::string(ir::plain_op(base)) + call.op.substr(base.size());
  const ir::OpSchema* schema = ir::find_schema(plain);
  if (!schema || schema->arguments.size() != call.schema->arguments.size())
    refuse(*call.node, "it has no counterpart that makes a new tensor" + std::string(remedy));
  // In-place operators may use other names (dropout_'s "self" is "input").
  for (ir::Argument& argument : call.args) {
    const auto* formal = call.schema->find(argument.name);
    argument.name =
        schema->arguments[static_cast<std::size_t>(formal - call.schema->arguments.data())].name;
  }
  call.op = plain;
  call.schema = schema;
  const std::string memory = memory_of(from[0]);
  Slot& changed = slots_.at(memory);
  if (!changed.path.empty()) changed = {ir::NodeRef{attribute(changed.path)}, ""};  // a constant
  return memory;
}

void Importer::bind_in_place(const Node& node, const std::string& memory, ir::NodeId id,
                             const ir::ValueInfo& before) {
  if (!(graph_.node(id).info == before))
    refuse(node, "it changes the type or the shape of a tensor in place" + std::string(remedy));
  change_memory(memory, id, node);
  for (const std::string& result : names_in(node.outputs.at(0))) same_memory_[result] = memory;
}

}  // namespace mase::pt2
