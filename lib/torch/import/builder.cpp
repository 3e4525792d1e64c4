// SPDX-License-Identifier: Apache-2.0
// Records operators as graph nodes while they run on the example.
#include "torch/import/builder.hpp"

#include <ATen/core/ivalue.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "ir/op_table.hpp"
#include "torch/import/call_forms.hpp"
#include "torch/import/demands.hpp"
#include "torch/import/state.hpp"
#include "torch/run/arguments.hpp"
#include "torch/run/operator_demands.hpp"
#include "torch/run/operators.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {
namespace {

std::string at_place(const SourceText& source) {
  return source.place.empty() ? "" : " at " + source.place;
}

/// A copy that is not affected by later rebinding of the original.
Ref snapshot(const Ref& cell) {
  Cell copy = *cell;
  for (Ref& item : copy.items) item = snapshot(item);
  return make_cell(std::move(copy));
}

/// Renames arguments, as in-place operators may use other names (dropout_'s "self" is "input").
void rename_arguments(OpCall& call) {
  const auto found = find_operator(call.op);
  if (!found || found->schema().arguments().size() != call.args.size()) return;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    call.args[i].first = found->schema().arguments()[i].name();
  }
}

void refuse_own_tensor(const Cell& cell, const SourceText& source) {
  if (cell.kind != Cell::Kind::attribute) return;
  throw OwnTensorChanged(cell.path, "a leaf changes the tensor '" + cell.path + "' in place" +
                                        at_place(source) +
                                        "; without the option it is imported op by op");
}

OpCall call_with(std::string op, std::vector<std::pair<std::string, Ref>> args,
                 const ViewStep& step, const SourceText& source) {
  args.insert(args.end(), step.args.begin(), step.args.end());
  const std::vector<bool> is_default(args.size(), false);
  return {std::move(op), std::move(args), is_default, source};
}

OpCall view_call(const ViewStep& step, const Ref& tensor, const SourceText& source) {
  return call_with(step.op, {{"self", tensor}}, step, source);
}

/// How a view of all elements is inverted.
enum class Inverse { itself, order, shape };

/// An operator that returns all elements of a tensor in another order or shape.
struct WholeView {
  std::string_view op;
  Inverse inverse;
};

constexpr WholeView whole_views[] = {
    {"aten::transpose.int", Inverse::itself}, {"aten::t", Inverse::itself},
    {"aten::swapaxes", Inverse::itself},      {"aten::swapdims", Inverse::itself},
    {"aten::numpy_T", Inverse::itself},       {"aten::mT", Inverse::itself},
    {"aten::permute", Inverse::order},        {"aten::view", Inverse::shape},
    {"aten::reshape", Inverse::shape},        {"aten::flatten.using_ints", Inverse::shape},
    {"aten::unflatten.int", Inverse::shape},  {"aten::squeeze", Inverse::shape},
    {"aten::squeeze.dim", Inverse::shape},    {"aten::view_as", Inverse::shape},
    {"aten::reshape_as", Inverse::shape},     {"aten::contiguous", Inverse::shape},
    {"aten::detach", Inverse::shape},         {"aten::alias", Inverse::shape},
};

const WholeView* whole_view(std::string_view op) {
  const auto found = std::ranges::find(whole_views, op, &WholeView::op);
  return found == std::end(whole_views) ? nullptr : found;
}

/// The result of a call as a view of its first argument; null if it is not a view, or is a copy.
std::shared_ptr<const View> view_of_call(const OpCall& call, const c10::IValue& result) {
  const WholeView* kind = whole_view(call.op);
  if (!kind || !is_tensor(*call.args[0].second)) return nullptr;
  const Ref base = call.args[0].second;
  if (!result.toTensor().is_alias_of(base->value.toTensor())) return nullptr;
  ViewStep step{call.op, {call.args.begin() + 1, call.args.end()}};
  if (kind->inverse == Inverse::order && !is_static(*step.args.at(0).second)) return nullptr;
  return std::make_shared<View>(View{base, {std::move(step)}, {}});
}

/// The order that undoes a permute with this order.
Ref inverse_order(const Ref& order) {
  const std::vector<std::int64_t> dims = concrete(*order, c10::ListType::ofInts()).toIntVector();
  std::vector<std::int64_t> inverse(dims.size());
  const auto count = static_cast<std::int64_t>(dims.size());
  for (std::int64_t i = 0; i < count; ++i)
    inverse[static_cast<std::size_t>((dims[static_cast<std::size_t>(i)] + count) % count)] = i;
  return constant_cell(inverse);
}

/// The step that converts a whole view back to a tensor like `tensor`.
ViewStep undone(const ViewStep& step, const Ref& tensor) {
  switch (whole_view(step.op)->inverse) {
    case Inverse::itself:
      return step;
    case Inverse::order:
      return {step.op, {{"dims", inverse_order(step.args.at(0).second)}}};
    default:
      return {"aten::reshape_as", {{"other", tensor}}};
  }
}

bool is_whole(const View& view) { return whole_view(view.steps.front().op) != nullptr; }

/// The call that puts `part` back to where the step took it from.
OpCall scatter_call(const ViewStep& step, const Ref& tensor, const Ref& part,
                    const SourceText& source) {
  if (whole_view(step.op)) return view_call(undone(step, tensor), part, source);
  if (step.op == "aten::unsqueeze")
    return call_with("aten::squeeze.dim", {{"self", part}}, step, source);
  const std::string op =
      step.op == "aten::select.int" ? "aten::select_scatter" : "aten::slice_scatter";
  return call_with(op, {{"self", tensor}, {"src", part}}, step, source);
}

/// Whether all tensors of the call are known without the input, except for sizes.
bool is_from_sizes(const OpCall& call) {
  bool sizes = false, other = false;
  for (const auto& [name, cell] : call.args)
    for_each_leaf(cell, [&](const Cell& leaf) {
      sizes = sizes || leaf.from_sizes;
      other = other || (leaf.value.isTensor() && !leaf.from_sizes && !is_static(leaf));
    });
  return sizes && !other;
}

bool takes_tensors(const c10::TypePtr& type) {
  const auto kind = type->kind();
  if (kind == c10::TypeKind::OptionalType || kind == c10::TypeKind::ListType)
    return takes_tensors(type->containedType(0));
  return kind == c10::TypeKind::TensorType;
}

/// A getitem in a scope, which is not an operator, as a call. A numeric index is known.
OpCall item_call(const Ref& value, const ir::Value& index) {
  const bool number = index.kind() == ir::Value::Kind::integer;
  const Ref place = constant_cell(number ? c10::IValue(index.as_int()) : c10::IValue());
  return {"mase::getitem", {{"value", snapshot(value)}, {"index", place}}, {false, false}, {}};
}

/// The text of an element: element i of "size(x)" is "size(x, i)".
std::string element_text(const std::string& text, const ir::Value& index) {
  if (!text.starts_with("size(") || !text.ends_with(')') ||
      index.kind() != ir::Value::Kind::integer)
    return text + "[...]";
  return text.substr(0, text.size() - 1) + ", " + std::to_string(index.as_int()) + ")";
}

}  // namespace

c10::IValue concrete(const Cell& cell, const c10::TypePtr& type) {
  if (!is_container(cell)) return cell.value;
  std::vector<c10::IValue> items;
  for (const Ref& item : cell.items) items.push_back(concrete(*item));
  if (cell.kind == Cell::Kind::tuple) return c10::ivalue::Tuple::create(std::move(items));
  if (cell.kind == Cell::Kind::list) return make_list(std::move(items), type ? type : cell.type);
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (std::size_t i = 0; i < items.size(); ++i) dict.insert(cell.keys[i], items[i]);
  return dict;
}

c10::IValue run_operator(const std::string& op, std::vector<c10::IValue> arguments) {
  if (const HostOperator* host = find_host_operator(op)) return host->run(arguments);
  const auto found = find_operator(op);
  if (!found)
    unsupported_error("this LibTorch has no operator " + op + "; a newer one may have it");
  const Running running(Running::Kind::model_operator, op.c_str());
  found->callBoxed(&arguments);
  if (arguments.empty()) return {};
  if (arguments.size() == 1) return arguments[0];
  return c10::ivalue::Tuple::create(std::move(arguments));
}

Ref Builder::placeholder(const std::string& name, c10::IValue value) {
  ir::Node node;
  node.kind = ir::NodeKind::placeholder;
  node.name = name;
  node.target = name;
  return add_leaf(std::move(node), std::move(value));
}

ir::NodeId Builder::add_node(ir::Node node, const c10::IValue& value, const SourceText& source) {
  node.info = info_of(value, (node.op.empty() ? node.name : node.op) + at_place(source));
  return graph_.add(std::move(node));
}

c10::IValue Builder::run(const OpCall& call) const {
  std::vector<c10::IValue> arguments;
  const auto found = find_host_operator(call.op) ? std::nullopt : find_operator(call.op);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const c10::TypePtr type = found ? found->schema().arguments()[i].type() : nullptr;
    arguments.push_back(concrete(*call.args[i].second, type));
  }
  std::string demand = operator_demand(call.op, found ? &found->schema() : nullptr, arguments);
  if (!demand.empty()) refuse(call, demand);
  try {
    return run_operator(call.op, arguments);
  } catch (const c10::Error& error) {
    demand = unmet_demand(call.op, arguments);
    refuse(call, demand.empty() ? error.what_without_backtrace() : demand);
  }
}

void Builder::refuse(const OpCall& call, const std::string& reason) const {
  file_error(call.op + at_place(call.source) + " does not fit the example input: " + reason +
             examples_text());
}

/// The examples as text: "; the example is x float32[2, 7] (x.npy), ...".
std::string Builder::examples_text() const {
  std::string text;
  const auto placeholders = graph_.placeholders();
  for (std::size_t i = 0; i < placeholders.size() && i < origins_.size(); ++i) {
    const ir::Node& node = graph_.node(placeholders[i]);
    text += (i == 0 ? "; the example is " : ", ") + node.target + " " +
            std::string(dtype_name(node.info.dtype)) + shape_text(node.info.shape) + " (" +
            origins_[i] + ")";
  }
  return text;
}

std::string Builder::operand_text(const Cell& cell) const {
  constexpr std::size_t longest = 400;
  if (cell.text.size() > longest) return std::string(ir::long_expression);
  if (!cell.text.empty()) return cell.text;
  if (cell.kind == Cell::Kind::dynamic && cell.node >= 0) return graph_.node(cell.node).name;
  if (cell.kind == Cell::Kind::attribute) return cell.path;
  if (cell.value.isInt()) return std::to_string(cell.value.toInt());
  if (cell.value.isDouble()) return std::to_string(cell.value.toDouble());
  if (cell.value.isBool()) return cell.value.toBool() ? "true" : "false";
  return "?";
}

std::string Builder::text_of(const OpCall& call) const {
  const std::string_view base = ir::base_op(call.op);
  const std::string name(base.substr(base.rfind(':') + 1));
  std::string text = name + "(";
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    text += (i > 0 ? ", " : "") + operand_text(*call.args[i].second);
  }
  return text + ")";
}

bool Builder::is_stale(const Ref& cell) {
  bool found = false;
  for_each_leaf(cell, [&](const Cell& leaf) { found = found || leaf.stale; });
  return found;
}

void Builder::refuse_stale(const Ref& cell, const std::string& place) {
  if (!is_stale(cell)) return;
  unsupported_error("a tensor is used" + place +
                    " after memory that it shares was changed in place; make the change a new "
                    "tensor (x = x + y instead of x += y)");
}

void Builder::save(const Ref& cell) {
  if (scope_) scope_->rebound.push_back({cell, *cell});
}

void Builder::watch(const Ref& tensor) { tensors_.add(tensor); }

void Builder::changed_constant(const at::Tensor& memory) {
  for (const Ref& cell : tensors_.sharing(memory)) {
    if (!overlap(cell->value.toTensor(), memory)) continue;
    save(cell);
    if (cell->kind == Cell::Kind::constant)
      cell->path.clear();
    else
      cell->stale = true;
  }
}

void Builder::refresh(const Ref& cell) {
  for (const Ref& item : cell->items) refresh(item);
  if (!cell->stale || !cell->view) return;
  const std::shared_ptr<const View> view = cell->view;
  refresh(view->base);
  if (view->base->stale) return;
  Ref part = view->base;
  if (scope_ || is_whole(*view)) {
    for (const ViewStep& step : view->steps) part = emit(view_call(step, part, {}));
  } else {
    c10::IValue value = part->value;
    for (const ViewStep& step : view->steps)
      value = run(view_call(step, constant_cell(std::move(value)), {}));
    part = get_item(part, view->index, std::move(value), view->steps);
  }
  save(cell);
  *cell = *part;
  cell->view = view;
  watch(cell);
}

Ref Builder::with_part(const Ref& tensor, const std::vector<ViewStep>& steps, std::size_t step,
                       const Ref& part, const SourceText& source) {
  const ViewStep& taken = steps[step];
  const bool last = step + 1 == steps.size();
  const Ref inner =
      last ? part
           : with_part(emit(view_call(taken, tensor, source)), steps, step + 1, part, source);
  return emit(scatter_call(taken, tensor, inner, source));
}

Ref Builder::rename(const Ref& target, const Ref& result) {
  save(target);
  *target = *result;
  target->view = nullptr;  // the result may be a view of a new tensor
  watch(target);
  return target;
}

bool Builder::turn_around(const Ref& target, const SourceText& source) {
  std::vector<Ref> cells{target};
  while (cells.back()->view && is_whole(*cells.back()->view))
    cells.push_back(cells.back()->view->base);
  if (cells.size() == 1 || cells.back()->view) return false;
  refuse_own_tensor(*cells.back(), source);
  std::vector<ViewStep> steps;
  for (const Ref& cell : cells)
    if (cell->view) steps.push_back(cell->view->steps.front());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Ref& base = cells[i + 1];
    const Ref before = snapshot(base);  // for its shape
    before->stale = false;
    save(base);
    base->stale = true;
    base->view = std::make_shared<View>(View{cells[i], {undone(steps[i], before)}, {}});
  }
  return true;
}

Ref Builder::bind_in_place(const Ref& target, const Ref& result, const SourceText& source) {
  const at::Tensor before = target->value.toTensor();
  if (result->value.toTensor().is_alias_of(before)) return rename(target, result);
  if (before.scalar_type() != result->value.toTensor().scalar_type() ||
      before.sizes() != result->value.toTensor().sizes()) {
    unsupported_error("an in-place operator changes a tensor's type or shape" + at_place(source));
  }
  refuse_own_tensor(*target, source);
  const bool turned = turn_around(target, source);
  if (target->view && !turned) {
    const std::shared_ptr<const View> view = target->view;
    refresh(view->base);
    bind_in_place(view->base, with_part(view->base, view->steps, 0, result, source), source);
    return target;
  }
  for (const Ref& other : tensors_.sharing(before)) {
    if (other == target || other == result || !overlap(other->value.toTensor(), before)) continue;
    save(other);
    other->stale = true;
  }
  return rename(target, result);
}

void Builder::wrap_sizes(OpCall& call) {
  const auto found = find_host_operator(call.op) ? std::nullopt : find_operator(call.op);
  if (!found) return;
  for (std::size_t i = 0; i < call.args.size(); ++i)
    if (takes_tensors(found->schema().arguments()[i].type()))
      call.args[i].second = wrapped(call.args[i].second, call.source);
}

Ref Builder::wrapped(const Ref& cell, const SourceText& source) {
  if (is_container(*cell)) {
    Cell copy = *cell;
    for (Ref& item : copy.items) item = wrapped(item, source);
    return make_cell(std::move(copy));
  }
  if (!cell->size_tensor) return cell;
  Cell number = *cell;
  number.size_tensor = false;
  const at::ScalarType type = number.value.isDouble() ? at::kFloat : at::kLong;
  const Ref none = constant_cell({});
  const Ref tensor = emit({"aten::scalar_tensor",
                           {{"s", make_cell(std::move(number))},
                            {"dtype", constant_cell(static_cast<std::int64_t>(type))},
                            {"layout", none},
                            {"device", none},
                            {"pin_memory", none}},
                           {false, false, true, true, true},
                           source});
  tensor->from_sizes = true;
  return tensor;
}

Ref Builder::emit(OpCall call) {
  for (const auto& [name, cell] : call.args) {
    refresh(cell);
    refuse_stale(cell, at_place(call.source));
  }
  const std::string base(ir::base_op(call.op));
  const bool in_place = ir::plain_op(base) != base;
  const Ref target = in_place ? call.args[0].second : nullptr;
  const SourceText source = call.source;
  if (in_place) {
    refuse_own_tensor(*target, call.source);
    call.op = out_of_place_operator(call.op);
    rename_arguments(call);
  }
  const auto host = as_host_call(call);
  if (host) call = *host;
  use_scalar_overload(call);
  use_plain_convolution(call);
  use_sizes_or_scales(call);
  wrap_sizes(call);
  const std::string reason = refusal(call.op);
  if (!reason.empty()) {
    unsupported_error("operator " + call.op + at_place(call.source) +
                      " is not supported: " + reason);
  }
  Cell cell;
  cell.kind = Cell::Kind::dynamic;
  cell.value = run(call);
  cell.size_tensor = host.has_value();
  cell.from_sizes = cell.value.isTensor() && is_from_sizes(call);
  if (!in_place) cell.view = view_of_call(call, cell.value);
  if (find_host_operator(call.op) && !cell.value.isTensor()) cell.text = text_of(call);
  if (scope_) {
    cell.node = record_id(scope_->records.size());
    for (auto& [name, argument] : call.args) argument = snapshot(argument);
  } else {
    cell.node = add_node(node_of(call), cell.value, call.source);
  }
  Ref result = make_cell(std::move(cell));
  if (scope_) scope_->records.push_back({std::move(call), result});
  watch(result);
  return in_place ? bind_in_place(target, result, source) : result;
}

ir::Node Builder::node_of(const OpCall& call) {
  const Spelling spelling = spelling_of(ir::base_op(call.op), call.source);
  ir::Node node;
  node.kind = spelling.kind;
  node.target = spelling.target;
  node.op = call.op;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (call.is_default[i]) continue;
    try {
      node.args.push_back({call.args[i].first, argument(call.args[i].second)});
    } catch (const Error& error) {
      throw Error(error.fault(), call.op + at_place(call.source) + ", argument '" +
                                     call.args[i].first + "': " + error.what());
    }
  }
  return node;
}

Ref Builder::get_item(const Ref& value, ir::Value index, c10::IValue result,
                      std::vector<ViewStep> steps) {
  refresh(value);
  Cell cell;
  if (!steps.empty()) cell.view = std::make_shared<View>(View{value, std::move(steps), index});
  cell.kind = Cell::Kind::dynamic;
  cell.value = std::move(result);
  cell.from_data = value->from_data;
  if (value->value.isIntList()) cell.text = element_text(operand_text(*value), index);
  if (!scope_) {
    ir::Node node;
    node.kind = ir::NodeKind::call_function;
    node.target = "_operator.getitem";
    node.op = "mase::getitem";
    node.args = {{"value", argument(value)}, {"index", index}};
    cell.node = add_node(std::move(node), cell.value);
  } else {
    cell.node = record_id(scope_->records.size());
  }
  Ref ref = make_cell(std::move(cell));
  if (scope_) scope_->records.push_back({item_call(value, index), ref});
  watch(ref);
  return ref;
}

bool Builder::has_name_below(const Cell& attribute, const std::string& module) const {
  const auto known = graph_.tensors.find(attribute.path);
  if (known == graph_.tensors.end()) return attribute.path.starts_with(module + ".");
  return std::ranges::any_of(
      ir::names_of(known->first, known->second),
      [&](const std::string& name) { return name.starts_with(module + "."); });
}

void Builder::touch_attribute(const Ref& cell) {
  if (!scope_) argument(cell);
}

ir::NodeRef Builder::attribute_node(const Cell& cell) {
  const auto found = attribute_nodes_.find(cell.path);
  if (found != attribute_nodes_.end()) return {found->second};
  ir::Node node;
  node.kind = ir::NodeKind::get_attr;
  node.target = cell.path;
  const ir::NodeId id = add_node(std::move(node), cell.value);
  attribute_nodes_.emplace(cell.path, id);
  return {id};
}

ir::Value Builder::argument(const Ref& cell) {
  refresh(cell);
  switch (cell->kind) {
    case Cell::Kind::constant:
      refuse_stale(cell, "");
      if (cell->tainted && cell->value.isBool() && !cell->value.toBool()) return ir::TrainingFlag{};
      if (!cell->value.isTensor()) return to_value(cell->value);
      if (cell->path.empty()) {
        cell->path = "_tensor_constant" + std::to_string(tensor_constants_++);
        graph_.set_tensor(cell->path, {to_array(cell->value.toTensor(), cell->path), false, false});
      }
      return attribute_node(*cell);
    case Cell::Kind::dynamic:
      refuse_stale(cell, "");
      if (cell->node >= 0) return ir::NodeRef{cell->node};
      unsupported_error(
          cell->from_data
              ? "a number is read out of a tensor and used as an argument; results would depend on "
                "the example's values"
              : "a condition on shapes is used as an argument");
    case Cell::Kind::attribute:
      refuse_stale(cell, "");
      return attribute_node(*cell);
    case Cell::Kind::list:
    case Cell::Kind::tuple: {
      ir::Value::List items;
      for (const Ref& item : cell->items) items.push_back(argument(item));
      return cell->kind == Cell::Kind::list ? ir::Value::list(std::move(items))
                                            : ir::Value::tuple(std::move(items));
    }
    case Cell::Kind::dict: {
      ir::Value::Dict entries;
      for (std::size_t i = 0; i < cell->items.size(); ++i) {
        if (!cell->keys[i].isString()) unsupported_error("dicts need text keys");
        entries.emplace_back(cell->keys[i].toStringRef(), argument(cell->items[i]));
      }
      return ir::Value::dict(std::move(entries));
    }
    default:
      unsupported_error("a module or function is used as a value");
  }
}

void Builder::finish(const Ref& result) {
  ir::Node node;
  node.kind = ir::NodeKind::output;
  node.name = "output";
  node.target = "output";
  node.args = {{"value", argument(result)}};
  add_node(std::move(node), concrete(*result));
}

}  // namespace mase::libtorch
