// SPDX-License-Identifier: Apache-2.0
// Objects of a program's own classes, including torch.no_grad. They are created, changed and read
// while the program is evaluated, so that the graph has none.
#include <ATen/core/class_type.h>

#include <algorithm>

#include "base/error.hpp"
#include "torch/import/interpreter.hpp"

namespace mase::libtorch {
namespace {

c10::ClassTypePtr class_of(const Ref& self) {
  if (self->kind == Cell::Kind::object) return self->type->cast<c10::ClassType>();
  return self->value.isObject() ? self->value.toObjectRef().type() : nullptr;
}

/// The index of a field; the number of fields if it has no value yet.
std::size_t place_of_field(const Cell& object, const c10::IValue& name) {
  return static_cast<std::size_t>(std::ranges::find(object.keys, name) - object.keys.begin());
}

/// Whether a value is or contains the object.
bool reaches(const Ref& value, const Ref& object) {
  return value == object ||
         std::ranges::any_of(value->items, [&](const Ref& item) { return reaches(item, object); });
}

}  // namespace

const jit::Function& Importer::method_of(const Ref& self, const std::string& name,
                                         const jit::Node* node) {
  const c10::ClassTypePtr type = class_of(self);
  const jit::Function* method = type ? type->findMethod(name) : nullptr;
  if (!method) unsupported_error("no method " + name + " for the call at " + places_of(node));
  return *method;
}

void Importer::create_object(const jit::Node* node, Environment& environment) {
  Cell cell;
  cell.kind = Cell::Kind::object;
  cell.type = node->output()->type();
  environment[node->output()] = make_cell(std::move(cell));
}

void Importer::get_field(const jit::Node* node, Environment& environment) {
  const Ref self = environment.at(node->input());
  const std::string& name = node->s(jit::attr::name);
  const std::size_t place = place_of_field(*self, name);
  if (place == self->keys.size())
    file_error("'" + name + "' is read before it has a value at " + places_of(node));
  environment[node->output()] = self->items[place];
}

void Importer::set_attribute(const jit::Node* node, Environment& environment) {
  const Ref self = environment.at(node->input(0)), value = environment.at(node->input(1));
  const std::string& name = node->s(jit::attr::name);
  if (self->kind != Cell::Kind::object)
    return set_state(self->path.empty() ? name : self->path + "." + name, value, node);
  if (reaches(value, self)) unsupported_error("an object holds itself at " + places_of(node));
  const std::size_t place = place_of_field(*self, name);
  if (place == self->keys.size()) {
    self->keys.emplace_back(name);
    self->items.push_back(value);
  } else {
    self->items[place] = value;
  }
}

void Importer::enter(const jit::Node* node, Environment& environment) {
  const Ref self = environment.at(node->input());
  environment[node->output()] = call_function(method_of(self, "__enter__", node), {self});
}

void Importer::leave(const jit::Node* node, Environment& environment) {
  const Ref self = environment.at(node->input());
  const jit::Function& method = method_of(self, "__exit__", node);
  std::vector<Ref> arguments(method.getSchema().arguments().size(), constant_cell({}));
  arguments.at(0) = self;
  const Ref result = call_function(method, arguments);
  if (!node->outputs().empty()) environment[node->output()] = result;
}

}  // namespace mase::libtorch
