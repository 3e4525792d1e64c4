// SPDX-License-Identifier: Apache-2.0
// The importer's control flow and containers: it resolves branches, loops, lists, tuples, dicts.
#include "torch/import/interpreter.hpp"

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/from_front.hpp"
#include "torch/run/arguments.hpp"
#include "torch/run/tensors.hpp"

namespace mase::libtorch {

bool Importer::decide(const Ref& condition, const jit::Node* node) {
  const bool value = condition->value.isTensor() ? condition->value.toTensor().item().toBool()
                                                 : condition->value.toBool();
  if (is_static(*condition)) return value;
  if (condition->from_data || is_tensor(*condition)) {
    unsupported_error("data-dependent control flow at " + places_of(node) +
                      ": the condition is computed from tensor values, so there is no one graph; "
                      "compute both ways and choose with torch.where, or split the model");
  }
  ir::Guard guard{source_of(node).place, condition->text + (value ? " is true" : " is false")};
  if (guard.place.empty()) guard.place = places_of(node);
  add_guard(std::move(guard));
  return value;
}

namespace {

std::string guard_text(const ir::Guard& guard) { return guard.place + "\n" + guard.condition; }

}  // namespace

void Importer::add_guard(ir::Guard guard) {
  if (guards_.insert(guard_text(guard)).second) graph_.guards.push_back(std::move(guard));
}

void Importer::keep_guards(std::size_t count) {
  for (; graph_.guards.size() > count; graph_.guards.pop_back())
    guards_.erase(guard_text(graph_.guards.back()));
}

void Importer::branch(const jit::Node* node, Environment& environment) {
  const Ref condition = environment.at(node->input());
  const jit::Block* block = node->blocks().at(decide(condition, node) ? 0 : 1);
  run_block(block, environment);
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    Ref result = environment.at(block->outputs()[i]);
    if (is_tainted(*condition) && result->kind == Cell::Kind::constant) {
      result = constant_cell(result->value, true);
    }
    environment[node->outputs()[i]] = result;
  }
}

void Importer::loop(const jit::Node* node, Environment& environment) {
  const Ref trips = environment.at(node->inputs().at(0));
  if (!is_static(*trips)) guard_trips(trips, node);
  const std::int64_t limit = trips->value.toInt();
  const jit::Block* body = node->blocks().at(0);
  std::vector<Ref> carried;
  for (std::size_t i = 2; i < node->inputs().size(); ++i) {
    carried.push_back(environment.at(node->inputs()[i]));
  }
  Ref condition = environment.at(node->inputs().at(1));
  for (std::int64_t trip = 0; trip < limit && decide(condition, node); ++trip) {
    take_step(node);
    environment[body->inputs()[0]] = constant_cell(trip);
    for (std::size_t i = 0; i < carried.size(); ++i) {
      environment[body->inputs()[i + 1]] = carried[i];
    }
    run_block(body, environment);
    condition = environment.at(body->outputs()[0]);
    for (std::size_t i = 0; i < carried.size(); ++i) {
      carried[i] = environment.at(body->outputs()[i + 1]);
    }
  }
  for (std::size_t i = 0; i < carried.size(); ++i) environment[node->outputs()[i]] = carried[i];
}

void Importer::guard_trips(const Ref& trips, const jit::Node* node) {
  if (trips->from_data || is_tensor(*trips)) {
    unsupported_error("data-dependent control flow at " + places_of(node) +
                      ": the number of rounds is computed from tensor values");
  }
  add_guard({places_of(node), trips->text + " rounds: " + std::to_string(trips->value.toInt())});
}

void Importer::raise(const jit::Node* node, Environment& environment) {
  const Ref message = environment.at(node->inputs().at(0));
  const std::string text = message->value.isString() ? message->value.toStringRef() : "";
  file_error("the model refuses the example input at " + places_of(node) + ": " + text);
}

void Importer::refuse(const jit::Node* node, Environment&) {
  unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                    " is not supported: a graph has no threads; call the function itself");
}

void Importer::ignore(const jit::Node* node, Environment& environment) {
  for (const jit::Value* output : node->outputs()) environment[output] = constant_cell({});
}

void Importer::construct(const jit::Node* node, Environment& environment) {
  Cell cell;
  cell.kind = node->kind() == c10::prim::ListConstruct ? Cell::Kind::list : Cell::Kind::tuple;
  cell.type = node->output()->type();
  cell.items = inputs_of(node, environment);
  environment[node->output()] = make_cell(std::move(cell));
}

void Importer::construct_dict(const jit::Node* node, Environment& environment) {
  Cell cell;
  cell.kind = Cell::Kind::dict;
  const std::vector<Ref> inputs = inputs_of(node, environment);
  for (std::size_t i = 0; i + 1 < inputs.size(); i += 2) {
    if (!is_static(*inputs[i])) unsupported_error("a dict key is computed at " + places_of(node));
    cell.keys.push_back(inputs[i]->value);
    cell.items.push_back(inputs[i + 1]);
  }
  environment[node->output()] = make_cell(std::move(cell));
}

Ref& Importer::place_in(Cell& container, std::int64_t position) {
  const auto place = from_front(position, container.items.size());
  if (!place) file_error("an index is out of range");
  return container.items[*place];
}

Ref Importer::element(const Ref& container, std::int64_t position) {
  if (is_container(*container)) return place_in(*container, position);
  const c10::IValue item = libtorch::get_item(container->value, ir::Value(position), {});
  if (!is_static(*container)) return builder_.get_item(container, position, item);
  const Ref constant = constant_cell(item, container->tainted);
  builder_.watch(constant);
  return constant;
}

void Importer::unpack(const jit::Node* node, Environment& environment) {
  const Ref container = environment.at(node->input());
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    environment[node->outputs()[i]] = element(container, static_cast<std::int64_t>(i));
  }
}

void Importer::index_container(const jit::Node* node, Environment& environment) {
  const Ref container = environment.at(node->inputs().at(0));
  const Ref index = environment.at(node->inputs().at(1));
  if (!is_static(*index)) unsupported_error("a computed index at " + places_of(node));
  Ref& result = environment[node->output()];
  if (container->kind == Cell::Kind::dict) {
    for (std::size_t i = 0; i < container->keys.size(); ++i) {
      if (container->keys[i] == index->value) result = container->items[i];
    }
    if (!result) file_error("a dict has no such key at " + places_of(node));
  } else if (container->value.isGenericDict() && !is_static(*container)) {
    const ir::Value key = to_value(index->value);
    result = builder_.get_item(container, key, libtorch::get_item(container->value, key, {}));
  } else if (container->value.isGenericDict()) {
    result = constant_cell(libtorch::get_item(container->value, to_value(index->value), {}));
  } else {
    result = element(container, index->value.toInt());
  }
}

Ref Importer::expanded(const Ref& list) {
  if (list->kind == Cell::Kind::list) return list;
  Cell cell;
  cell.kind = Cell::Kind::list;
  cell.type = list->value.type();
  const auto size = static_cast<std::int64_t>(list->value.toListRef().size());
  for (std::int64_t i = 0; i < size; ++i) cell.items.push_back(element(list, i));
  return make_cell(std::move(cell));
}

Ref Importer::list_slice(const jit::Node* node, const std::vector<Ref>& inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (!is_static(*inputs[i])) unsupported_error("a computed slice at " + places_of(node));
  }
  const auto bound = [&](std::size_t i) {
    return i < inputs.size() ? to_value(inputs[i]->value) : ir::Value();
  };
  const ir::Value index = ir::Value::slice(bound(1), bound(2), bound(3));
  if (inputs[0]->kind == Cell::Kind::dynamic) {
    return builder_.get_item(inputs[0], index, libtorch::get_item(inputs[0]->value, index, {}));
  }
  const Ref list = expanded(inputs[0]);
  std::vector<std::int64_t> positions(list->items.size());
  std::iota(positions.begin(), positions.end(), 0);
  Cell cell;
  cell.kind = Cell::Kind::list;
  cell.type = list->type;
  for (const auto position : libtorch::get_item(positions, index, {}).toIntVector()) {
    cell.items.push_back(list->items[static_cast<std::size_t>(position)]);
  }
  return make_cell(std::move(cell));
}

void Importer::copy_list(const jit::Node* node, Environment& environment) {
  const Ref list = environment.at(node->inputs().at(0));
  if (!is_container(*list) && !list->value.isList()) return apply_operator(node, environment);
  Cell copy = *expanded(list);
  copy.path.clear();
  environment[node->output()] = make_cell(std::move(copy));
}

void Importer::add(const jit::Node* node, Environment& environment) {
  const Ref left = environment.at(node->inputs().at(0));
  const Ref right = environment.at(node->inputs().at(1));
  const bool lists = left->kind == Cell::Kind::list || right->kind == Cell::Kind::list;
  if (!lists) return apply_operator(node, environment);
  Cell cell = *expanded(left);
  const Ref tail = expanded(right);
  cell.items.insert(cell.items.end(), tail->items.begin(), tail->items.end());
  environment[node->output()] = make_cell(std::move(cell));
}

void Importer::set_item(const jit::Node* node, Environment& environment) {
  const Ref container = environment.at(node->inputs().at(0));
  const Ref key = environment.at(node->inputs().at(1));
  const Ref item = environment.at(node->inputs().at(2));
  refuse_own_container(container, node);
  open_container(container);
  if (!is_static(*key)) unsupported_error("a computed key at " + places_of(node));
  if (container->kind == Cell::Kind::list) {
    place_in(*container, key->value.toInt()) = item;
  } else if (container->kind == Cell::Kind::dict) {
    const auto known = std::find(container->keys.begin(), container->keys.end(), key->value);
    if (known != container->keys.end()) {
      container->items[static_cast<std::size_t>(known - container->keys.begin())] = item;
      return;
    }
    container->keys.push_back(key->value);
    container->items.push_back(item);
  } else {
    unsupported_error("an assignment to an element at " + places_of(node));
  }
}

void Importer::length(const jit::Node* node, Environment& environment) {
  const Ref cell = environment.at(node->input());
  if (is_container(*cell)) {
    environment[node->output()] = constant_cell(static_cast<std::int64_t>(cell->items.size()));
  } else if (cell->value.isTensor() && !is_static(*cell)) {
    apply_operator(node, environment);
  } else {
    example_constant(node, environment);
  }
}

}  // namespace mase::libtorch
