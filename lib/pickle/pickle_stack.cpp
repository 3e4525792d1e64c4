// SPDX-License-Identifier: Apache-2.0
// The stack of pickled values, with bounds so that a small pickle cannot take a lot of memory.
#include "pickle/pickle_stack.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace mase::pickle {

using Kind = PickleItem::Kind;

void PickleStack::damaged(const std::string& reason) const {
  file_error(origin_ + ": damaged or unusual pickle at byte " + std::to_string(at_) + ": " +
             reason);
}

void PickleStack::require_python(const std::string& what) const {
  if (is_module_)
    damaged(what + ", which torch.jit.save does not write; save the model again with it");
}

std::string_view PickleStack::take(std::size_t count) {
  if (bytes_.size() - at_ < count) damaged("it ends early");
  at_ += count;
  return bytes_.substr(at_ - count, count);
}

std::uint64_t PickleStack::number(std::size_t bytes) {
  std::uint64_t value = 0;
  const std::string_view text = take(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  return value;
}

std::string PickleStack::line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) damaged("it ends early");
  std::string text(bytes_.substr(at_, end - at_));
  at_ = end + 1;
  return text;
}

PickleItem& PickleStack::push(Kind kind) {
  PickleItem& item = pickle_.arena.emplace_back();
  item.kind = kind;
  item.fresh = kind == Kind::list || kind == Kind::dict;
  stack_.push_back(&item);
  return item;
}

PickleItem* PickleStack::pop() { return pop(1).front(); }

std::vector<PickleItem*> PickleStack::pop(std::size_t count) {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count) damaged("a value is missing");
  std::vector<PickleItem*> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return items;
}

PickleItem& PickleStack::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) damaged("a value is missing");
  return *stack_.back();
}

std::vector<PickleItem*> PickleStack::pop_to_mark() {
  if (marks_.empty()) damaged("a mark is missing");
  std::vector<PickleItem*> items = pop(stack_.size() - marks_.back());
  marks_.pop_back();
  return items;
}

/// Updates depth and number of values. Readers visit a value as often as it occurs.
void PickleStack::contain(PickleItem& container, const PickleItem& item) {
  constexpr int most_depth = 500;
  if (item.kind == Kind::unfinished) require_python("it uses an object without its state");
  container.depth = std::max(container.depth, item.depth + 1);
  if (__builtin_add_overflow(container.values, item.values, &container.values))
    container.values = UINT64_MAX;
  if (container.depth > most_depth) damaged("its values are nested too deeply");
  if (is_module_ && container.values > most_copies()) damaged("it repeats its values too often");
}

void PickleStack::push_tuple(std::vector<PickleItem*> items) {
  PickleItem& tuple = push(Kind::tuple);
  for (const PickleItem* item : items) contain(tuple, *item);
  tuple.items.assign(items.begin(), items.end());
}

/// To be called before the container on top gets its values. TorchScript's pickler writes them all
/// at once, before any reference to it, so that no value can change after it was used.
void PickleStack::fill(const char* what, Kind kind) {
  PickleItem& container = top();
  if (container.kind != kind) damaged(std::string("it fills something else than a ") + what);
  if (!container.fresh) require_python(std::string("it fills a ") + what + " twice");
  container.fresh = false;
}

void PickleStack::append(const std::vector<PickleItem*>& items) {
  fill("list", Kind::list);
  for (PickleItem* item : items) {
    contain(top(), *item);
    top().items.push_back(item);
  }
}

void PickleStack::set_items(const std::vector<PickleItem*>& items) {
  if (items.size() % 2 != 0) damaged("a key without a value");
  fill("dict", Kind::dict);
  PickleItem& dict = top();
  for (std::size_t i = 0; i < items.size(); i += 2) {
    contain(dict, *items[i]);
    contain(dict, *items[i + 1]);
    if (items[i]->kind == Kind::text) dict.entries.emplace_back(copy(items[i]->text), items[i + 1]);
  }
}

/// Refuses repeated attributes, of which readers might take either value.
void PickleStack::finish_object(const PickleItem& state) {
  PickleItem& object = top();
  if (is_module_ && (object.kind != Kind::unfinished || state.kind != Kind::dict))
    damaged("an object gets a state that is not a dict of attributes");
  if (object.kind != Kind::unfinished && object.kind != Kind::object) return;
  for (const auto& entry : state.entries) copy(entry.first);
  object.entries = copy(state.entries);
  object.kind = Kind::object;
  contain(object, state);
  if (!is_module_) return;
  std::vector<std::string_view> names;
  for (const auto& entry : object.entries) names.push_back(entry.first);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    damaged("an object has the attribute '" + std::string(*twice) + "' twice");
}

void PickleStack::put(std::uint64_t place) {
  PickleItem& item = top();
  if (item.kind == Kind::unfinished) require_python("it keeps an object without its state");
  if (place != memo_.size()) require_python("it numbers its values in an unusual way");
  // Every memoized value takes at least the two bytes of its number.
  if (place > bytes_.size())
    damaged("it keeps a value under the number " + std::to_string(place) + ", but has only " +
            std::to_string(bytes_.size()) + " bytes");
  item.fresh = item.fresh && !is_module_;
  memo_[place] = &item;
}

void PickleStack::get(std::uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) damaged("an unknown reference");
  stack_.push_back(found->second);
}

Pickle PickleStack::finish() {
  pickle_.result = pop();
  if (!stack_.empty() || !marks_.empty()) damaged("it leaves values over");
  if (at_ != bytes_.size())
    damaged("its end is followed by " + std::to_string(bytes_.size() - at_) + " bytes");
  return std::move(pickle_);
}

}  // namespace mase::pickle
