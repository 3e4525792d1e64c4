// SPDX-License-Identifier: Apache-2.0
// The machine on which a pickle's instructions work: a stack of values with marks, and a memo.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pickle/read_pickle.hpp"

namespace mase::pickle {

/// The stack. A damaged pickle gives an Error(Fault::file) that names `origin` and the byte.
class PickleStack {
 public:
  PickleStack(std::string_view bytes, const std::string& origin, PickleOf kind)
      : bytes_(bytes), origin_(origin), is_module_(kind == PickleOf::module) {}

  [[noreturn]] void damaged(const std::string& reason) const;
  /// Refuses something that Python may write but TorchScript does not.
  void require_python(const std::string& what) const;
  bool is_module() const { return is_module_; }
  const std::string& origin() const { return origin_; }

  std::string_view take(std::size_t count);
  std::uint64_t number(std::size_t bytes);  ///< little-endian
  std::string line();

  PickleItem& push(PickleItem::Kind kind);
  void push_again(PickleItem* item) { stack_.push_back(item); }
  void push_tuple(std::vector<PickleItem*> items);
  PickleItem* pop();
  std::vector<PickleItem*> pop(std::size_t count);
  PickleItem& top();
  void mark() { marks_.push_back(stack_.size()); }
  std::vector<PickleItem*> pop_to_mark();  ///< pops the values above the last mark

  void append(const std::vector<PickleItem*>& items);     ///< appends to the list on top
  void set_items(const std::vector<PickleItem*>& items);  ///< adds keys and values to the dict
  void finish_object(const PickleItem& state);            ///< sets the attributes of the object

  void put(std::uint64_t place);
  void get(std::uint64_t place);

  /// Returns the single value that is left.
  Pickle finish();

  /// Values may be referred to any number of times, but the size of all copies is bounded by the
  /// size of the pickle.
  template <class Sequence>
  const Sequence& copy(const Sequence& value) {
    // Items may be pointers. NOLINTNEXTLINE(bugprone-sizeof-expression)
    copied_ += value.size() * sizeof(typename Sequence::value_type);
    if (copied_ > most_copies()) damaged("it repeats its values too often");
    return value;
  }

 private:
  std::size_t most_copies() const { return 64 * (bytes_.size() + 1024); }
  void contain(PickleItem& container, const PickleItem& item);
  void fill(const char* what, PickleItem::Kind kind);

  std::string_view bytes_;
  const std::string& origin_;
  bool is_module_ = false;
  std::size_t at_ = 0, copied_ = 0;
  Pickle pickle_;
  std::vector<PickleItem*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleItem*> memo_;
};

}  // namespace mase::pickle
