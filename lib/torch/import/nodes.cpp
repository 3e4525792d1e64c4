// SPDX-License-Identifier: Apache-2.0
// The importer's handlers for kinds of nodes, constants and attributes, and places in the source.
#include "torch/import/interpreter.hpp"

#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/ir/constants.h>

#include <string_view>

#include "base/error.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

namespace {

std::string place_of(const jit::SourceRange& range) {
  const auto place = range.source() ? range.file_line_col() : std::nullopt;
  if (!place || std::get<0>(*place).empty()) return "";
  return std::get<0>(*place) + ":" + std::to_string(std::get<1>(*place));
}

/// The places of a node in the Python file and in the archive's code; "" for a node that the
/// compiler has added.
std::string place_in_text(const jit::Node* node) {
  const std::string original = source_of(node).place;
  const std::string stored = place_of(node->sourceRange());
  if (original.empty() || original == stored) return stored;
  return original + (stored.empty() ? "" : " (in the archive: " + stored + ")");
}

/// The nodes that compute the inputs of a node, and the nodes before and after it.
std::vector<const jit::Node*> neighbours(const jit::Node* node) {
  std::vector<const jit::Node*> nodes;
  for (const jit::Value* input : node->inputs()) nodes.push_back(input->node());
  const jit::Node* end = node->owningBlock()->return_node();  // of a ring
  for (const jit::Node* near = node->prev(); near != end; near = near->prev())
    nodes.push_back(near);
  for (const jit::Node* near = node->next(); near != end; near = near->next())
    nodes.push_back(near);
  return nodes;
}

}  // namespace

SourceText source_of(const jit::Node* node) {
  const jit::SourceRange range = node->sourceRange();
  if (!range.source()) return {};
  const auto original = range.source()->findSourceRangeThatGenerated(range);
  if (!original || place_of(*original).empty()) return {place_of(range), ""};
  return {place_of(*original), original->text().str()};
}

std::string places_of(const jit::Node* node) {
  const std::string own = place_in_text(node);
  if (!own.empty()) return own;
  for (const jit::Node* near : neighbours(node))
    if (const std::string place = place_in_text(near); !place.empty()) return "about " + place;
  return "an unknown place";
}

std::string Importer::subscript_place(const jit::Node* node) {
  const jit::SourceRange range = node->sourceRange();
  if (!range.source()) return "";
  const auto original = range.source()->findSourceRangeThatGenerated(range);
  const auto place = (original ? *original : range).file_line_col();  // the file may have no name
  return (place ? std::get<0>(*place) + ":" + std::to_string(std::get<1>(*place)) : "") + " " +
         (original ? original->text().str() : "");
}

void Importer::run_node(const jit::Node* node, Environment& environment) {
  static const std::unordered_map<std::string_view, Handler> handlers{
      {"prim::Constant", &Importer::constant},
      {"prim::GetAttr", &Importer::get_attribute},
      {"prim::CallMethod", &Importer::call_method},
      {"prim::CallFunction", &Importer::call_free_function},
      {"prim::If", &Importer::branch},
      {"prim::Loop", &Importer::loop},
      {"prim::ListConstruct", &Importer::construct},
      {"prim::TupleConstruct", &Importer::construct},
      {"prim::DictConstruct", &Importer::construct_dict},
      {"prim::ListUnpack", &Importer::unpack},
      {"prim::TupleUnpack", &Importer::unpack},
      {"prim::TupleIndex", &Importer::index_container},
      {"aten::__getitem__", &Importer::index_container},
      {"aten::list", &Importer::copy_list},
      {"aten::add", &Importer::add},
      {"aten::_set_item", &Importer::set_item},
      {"prim::RaiseException", &Importer::raise},
      {"prim::Print", &Importer::ignore},
      {"prim::SetAttr", &Importer::set_attribute},
      {"prim::fork", &Importer::refuse},
      {"aten::wait", &Importer::refuse},
      {"prim::CreateObject", &Importer::create_object},
      {"prim::Enter", &Importer::enter},
      {"prim::Exit", &Importer::leave},
      {"aten::set_grad_enabled", &Importer::ignore},
      {"aten::warn", &Importer::ignore},
      {"prim::unchecked_cast", &Importer::alias},
      {"prim::NumToTensor", &Importer::alias},
      {"aten::ScalarImplicit", &Importer::alias_of_size},
      {"aten::IntImplicit", &Importer::alias_of_size},
      {"aten::Int", &Importer::alias_of_size},
      {"aten::_unwrap_optional", &Importer::alias},
      {"prim::unchecked_unwrap_optional", &Importer::alias},
      {"aten::__is__", &Importer::compare_none},
      {"aten::__isnot__", &Importer::compare_none},
      {"aten::len", &Importer::length},
      {"aten::format", &Importer::format},
      {"aten::dim", &Importer::example_constant},
      {"prim::dtype", &Importer::example_constant},
      {"prim::device", &Importer::example_constant},
      {"prim::layout", &Importer::example_constant},
      {"prim::is_cuda", &Importer::example_constant},
      {"prim::requires_grad", &Importer::example_constant},
      {"prim::is_nested", &Importer::example_constant},
      {"aten::is_floating_point", &Importer::example_constant},
      {"aten::is_complex", &Importer::example_constant},
      {"prim::isinstance", &Importer::is_instance},
      {"aten::empty", &Importer::empty},
      {"aten::empty_like", &Importer::empty},
      {"aten::new_empty", &Importer::empty},
      {"aten::cpu", &Importer::alias},
      {"prim::data", &Importer::alias},
      {"aten::tensor", &Importer::tensor_of},
      {"aten::to", &Importer::move_or_convert},
      {"aten::slice", &Importer::index_tensor},
      {"aten::select", &Importer::index_tensor},
      {"aten::unsqueeze", &Importer::index_tensor},
      {"aten::index", &Importer::index_tensor},
  };
  if (fuse_softsign(node, environment)) return;
  const auto handler = handlers.find(node->kind().toQualString());
  if (handler != handlers.end()) {
    (this->*handler->second)(node, environment);
  } else if (is_container_method(node)) {
    container_method(node, environment);
  } else {
    apply_operator(node, environment);
  }
}

void Importer::constant(const jit::Node* node, Environment& environment) {
  const jit::Value* output = node->output();
  if (output->type()->kind() == c10::TypeKind::FunctionType) {
    Cell cell;
    cell.kind = Cell::Kind::function;
    cell.type = output->type();
    environment[output] = make_cell(std::move(cell));
    return;
  }
  const auto value = jit::toIValue(output);
  environment[output] = constant_cell(value ? *value : c10::IValue());
  builder_.watch(environment[output]);
}

void Importer::get_attribute(const jit::Node* node, Environment& environment) {
  const Ref self = environment.at(node->input());
  if (self->kind == Cell::Kind::object) return get_field(node, environment);
  if (!self->value.isObject()) unsupported_error("an attribute of no module at " + places_of(node));
  const std::string& name = node->s(jit::attr::name);
  const c10::IValue value = self->value.toObjectRef().getAttr(name);
  const std::string path = self->path.empty() ? name : self->path + "." + name;
  Ref& result = environment[node->output()];
  if (outer_state_.contains(path))
    unsupported_error("a leaf reads '" + path + "', which the model keeps between runs, at " +
                      places_of(node) + "; without the option it is imported op by op");
  if (const auto kept = state_.find(path); kept != state_.end()) {
    result = kept->second;
  } else if (name == "training") {
    result = constant_cell(false, true);
  } else if (value.isTensor() && value.toTensor().defined()) {
    result = attribute(path, value);
  } else if (value.isTensorList()) {
    result = attribute_list(value);
  } else if (value.isObject()) {
    Cell cell;
    cell.kind = Cell::Kind::module;
    cell.value = value;
    cell.path = path;
    result = make_cell(std::move(cell));
  } else {
    result = constant_cell(value);
    if (value.isList() || value.isGenericDict()) result->path = path;
  }
}

Ref Importer::attribute_list(const c10::IValue& tensors) {
  Cell list;
  list.kind = Cell::Kind::list;
  list.type = tensors.type();
  for (const at::Tensor& tensor : tensors.toTensorVector()) {
    Ref item;
    for (const auto& known : root_.named_parameters())
      if (is_same_memory(known.value, tensor)) item = attribute(known.name, known.value);
    list.items.push_back(item ? item : constant_cell(tensor));
  }
  return make_cell(std::move(list));
}

Ref Importer::attribute(const std::string& name, const c10::IValue& value) {
  const auto first = first_names_.find(name);
  const std::string& path = first == first_names_.end() ? name : first->second;
  Ref& cell = attributes_[path];
  if (!cell) {
    Cell fresh;
    fresh.kind = Cell::Kind::attribute;
    fresh.path = path;
    fresh.value = value;
    cell = make_cell(std::move(fresh));
    builder_.watch(cell);
    if (!graph_.tensors.contains(path)) {
      graph_.set_tensor(path, {to_array(value.toTensor(), path), false, false});
    }
  }
  if (!traced_) builder_.touch_attribute(cell);
  return cell;
}

}  // namespace mase::libtorch
