// SPDX-License-Identifier: Apache-2.0
// Methods of lists and dicts, one row each. A container consists of cells, so that all its names
// see the changes made by a method.
#include <algorithm>
#include <span>

#include "base/error.hpp"
#include "torch/import/interpreter.hpp"

namespace mase::libtorch {
namespace container_methods {
namespace {

using Given = std::span<const Ref>;  ///< the arguments after the container

/// The position for a Python index in a list of `size` elements.
std::size_t position_in(const Ref& index, std::size_t size, bool may_end) {
  const auto count = static_cast<std::int64_t>(size);
  std::int64_t position = index->value.toInt();
  if (position < 0) position += count;
  if (may_end) position = std::clamp<std::int64_t>(position, 0, count);
  if (position < 0 || (position >= count && !may_end)) file_error("an index is out of range");
  return static_cast<std::size_t>(position);
}

constexpr std::uint64_t most_elements = 10'000'000;

void refuse_size(std::uint64_t elements) {
  if (elements > most_elements)
    file_error("a list makes at most " + std::to_string(most_elements) + " elements, given " +
               std::to_string(elements));
}

std::ptrdiff_t offset(std::size_t place) { return static_cast<std::ptrdiff_t>(place); }

Ref none() { return constant_cell({}); }

Ref container(Cell::Kind kind, std::vector<Ref> items, c10::TypePtr type = nullptr) {
  Cell cell;
  cell.kind = kind;
  cell.items = std::move(items);
  cell.type = std::move(type);
  return make_cell(std::move(cell));
}

Ref append(Cell& list, Given given) {
  list.items.push_back(given[0]);
  return nullptr;
}

Ref insert(Cell& list, Given given) {
  const std::size_t place = position_in(given[0], list.items.size(), true);
  list.items.insert(list.items.begin() + offset(place), given[1]);
  return none();
}

Ref extend(Cell& list, Given given) {
  const std::vector<Ref> tail = given[0]->items;  // a copy: it may be the list itself
  refuse_size(list.items.size() + tail.size());
  list.items.insert(list.items.end(), tail.begin(), tail.end());
  return nullptr;
}

Ref pop_item(Cell& list, Given given) {
  const std::size_t place = position_in(given[0], list.items.size(), false);
  const Ref item = list.items[place];
  list.items.erase(list.items.begin() + offset(place));
  return item;
}

Ref reverse(Cell& list, Given) {
  std::ranges::reverse(list.items);
  return none();
}

Ref clear(Cell& container, Given) {
  container.items.clear();
  container.keys.clear();
  return none();
}

Ref copy(Cell& container, Given) { return make_cell(container); }

Ref repeat(Cell& list, Given given) {
  const auto times = static_cast<std::uint64_t>(std::max<std::int64_t>(given[0]->value.toInt(), 0));
  if (!list.items.empty()) refuse_size(times > most_elements ? times : times * list.items.size());
  Cell result = list;
  result.items.clear();
  for (std::int64_t i = 0; i < given[0]->value.toInt(); ++i)
    result.items.insert(result.items.end(), list.items.begin(), list.items.end());
  return make_cell(std::move(result));
}

std::size_t place_of_key(const Cell& dict, const Ref& key) {
  return static_cast<std::size_t>(std::ranges::find(dict.keys, key->value) - dict.keys.begin());
}

Ref key_at(const Cell& dict, std::size_t place) { return constant_cell(dict.keys[place]); }

void erase_key(Cell& dict, std::size_t place) {
  dict.keys.erase(dict.keys.begin() + offset(place));
  dict.items.erase(dict.items.begin() + offset(place));
}

void set_key(Cell& dict, const c10::IValue& key, const Ref& item) {
  const std::size_t place = place_of_key(dict, constant_cell(key));
  if (place < dict.keys.size()) {
    dict.items[place] = item;
    return;
  }
  dict.keys.push_back(key);
  dict.items.push_back(item);
}

Ref keys(Cell& dict, Given) {
  std::vector<Ref> items;
  for (const c10::IValue& key : dict.keys) items.push_back(constant_cell(key));
  return container(Cell::Kind::list, std::move(items));
}

Ref values(Cell& dict, Given) { return container(Cell::Kind::list, dict.items); }

Ref items(Cell& dict, Given) {
  std::vector<Ref> pairs;
  for (std::size_t i = 0; i < dict.items.size(); ++i)
    pairs.push_back(container(Cell::Kind::tuple, {key_at(dict, i), dict.items[i]}));
  return container(Cell::Kind::list, std::move(pairs));
}

Ref contains(Cell& dict, Given given) {
  return constant_cell(place_of_key(dict, given[0]) < dict.keys.size());
}

Ref get(Cell& dict, Given given) {
  const std::size_t place = place_of_key(dict, given[0]);
  if (place < dict.items.size()) return dict.items[place];
  return given.size() > 1 ? given[1] : none();
}

Ref set_default(Cell& dict, Given given) {
  if (place_of_key(dict, given[0]) == dict.keys.size()) set_key(dict, given[0]->value, given[1]);
  return get(dict, given);
}

Ref pop_key(Cell& dict, Given given) {
  const std::size_t place = place_of_key(dict, given[0]);
  if (place == dict.keys.size() && given.size() < 2) file_error("a dict has no such key");
  const Ref item = get(dict, given);
  if (place < dict.keys.size()) erase_key(dict, place);
  return item;
}

Ref pop_last(Cell& dict, Given) {
  if (dict.keys.empty()) file_error("a dict is empty");
  const std::size_t last = dict.keys.size() - 1;
  const Ref pair = container(Cell::Kind::tuple, {key_at(dict, last), dict.items[last]});
  erase_key(dict, last);
  return pair;
}

Ref update(Cell& dict, Given given) {
  const Cell other = *given[0];
  for (std::size_t i = 0; i < other.keys.size(); ++i) set_key(dict, other.keys[i], other.items[i]);
  return none();
}

/// A method of a kind of container. It returns its result, or null for the container itself. A
/// method that takes another container declares this, and gets the container taken apart.
struct Method {
  std::string_view op;
  Cell::Kind kind;
  Ref (*run)(Cell& self, Given given);
  bool takes_container = false;
};

constexpr auto list = Cell::Kind::list, dict = Cell::Kind::dict;
constexpr Method methods[] = {
    {"aten::append", list, append},
    {"aten::insert", list, insert},
    {"aten::extend", list, extend, true},
    {"aten::add_", list, extend, true},
    {"aten::pop", list, pop_item},
    {"aten::reverse", list, reverse},
    {"aten::clear", list, clear},
    {"aten::copy", list, copy},
    {"aten::mul", list, repeat},
    {"aten::keys", dict, keys},
    {"aten::values", dict, values},
    {"aten::items", dict, items},
    {"aten::__contains__", dict, contains},
    {"aten::get", dict, get},
    {"aten::setdefault", dict, set_default},
    {"aten::pop", dict, pop_key},
    {"aten::Delete", dict, pop_key},
    {"aten::popitem", dict, pop_last},
    {"aten::update", dict, update, true},
    {"aten::clear", dict, clear},
    {"aten::copy", dict, copy},
    {"aten::dict", dict, copy},
};

const Method* find_method(std::string_view op, Cell::Kind kind) {
  for (const Method& method : methods)
    if (method.op == op && method.kind == kind) return &method;
  return nullptr;
}

bool is_list_or_dict(const Cell& cell) {
  return cell.kind == Cell::Kind::list || cell.kind == Cell::Kind::dict ||
         (!is_container(cell) && (cell.value.isList() || cell.value.isGenericDict()));
}

}  // namespace
}  // namespace container_methods

bool Importer::is_container_method(const jit::Node* node) {
  if (node->inputs().empty()) return false;
  const auto type = node->input(0)->type()->kind();
  if (type != c10::TypeKind::ListType && type != c10::TypeKind::DictType) return false;
  const std::string_view op = node->kind().toQualString();
  const c10::FunctionSchema* schema = node->maybeSchema();
  return (schema && schema->is_mutable()) ||
         std::ranges::any_of(container_methods::methods,
                             [&](const auto& method) { return method.op == op; });
}

void Importer::open_container(const Ref& container) {
  const c10::IValue value = container->value;
  if (container->kind == Cell::Kind::dynamic && value.isList()) {
    *container = *expanded(container);
    return;
  }
  if (container->kind != Cell::Kind::constant) return;
  if (value.isList()) {
    for (const c10::IValue& item : value.toListRef())
      container->items.push_back(constant_cell(item, container->tainted));
    container->kind = Cell::Kind::list;
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      container->keys.push_back(entry.key());
      container->items.push_back(constant_cell(entry.value(), container->tainted));
    }
    container->kind = Cell::Kind::dict;
  } else {
    return;
  }
  container->type = value.type();
  for (const Ref& item : container->items) builder_.watch(item);
}

void Importer::refuse_own_container(const Ref& container, const jit::Node* node) {
  if (container->path.empty()) return;
  unsupported_error("the model changes its own list or dict '" + container->path + "' at " +
                    places_of(node) + "; make a copy of it first (list(x), dict(x))");
}

void Importer::container_method(const jit::Node* node, Environment& environment) {
  using namespace container_methods;
  const std::vector<Ref> inputs = inputs_of(node, environment);
  const Ref& self = inputs.at(0);
  if (!is_list_or_dict(*self)) return apply_operator(node, environment);
  const c10::FunctionSchema* schema = node->maybeSchema();
  const bool changes = schema && schema->is_mutable();
  if (changes) refuse_own_container(self, node);
  const auto of_kind = [&](Cell::Kind kind) {
    return find_method(node->kind().toQualString(), kind);
  };
  const Method* method = of_kind(self->value.isGenericDict() ? dict : self->kind);
  if (!is_container(*self) && !self->value.isGenericDict()) method = of_kind(list);
  const Given given(inputs.data() + 1, inputs.size() - 1);
  const bool by_place = method && !given.empty() && is_static(*given[0]);
  if (!method || (!by_place && !given.empty() && method->run != append && !method->takes_container))
    return change_constant(node, environment, inputs);
  open_container(self);
  if (method->takes_container) open_container(given[0]);
  const Ref result = method->run(*self, given);
  if (!node->outputs().empty()) environment[node->output()] = result ? result : self;
}

void Importer::change_constant(const jit::Node* node, Environment& environment,
                               const std::vector<Ref>& inputs) {
  const c10::FunctionSchema* schema = node->maybeSchema();
  if (!schema || !schema->is_mutable()) return apply_operator(node, environment);
  if (!std::ranges::all_of(inputs, [](const Ref& cell) { return is_static(*cell); }))
    unsupported_error(std::string(node->kind().toQualString()) + " at " + places_of(node) +
                      " changes a list or dict in a way that depends on the input");
  std::vector<Ref> values = inputs;
  values[0] = constant_cell(concrete(*inputs[0]).deepcopy());
  const Ref result = constant_cell(run_jit(node, values));
  Cell changed = *values[0];
  *inputs[0] = std::move(changed);
  open_container(inputs[0]);
  store_outputs(node, environment, result);
}

}  // namespace mase::libtorch
