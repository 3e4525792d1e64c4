// SPDX-License-Identifier: Apache-2.0
// NameMap maps names to values, for the many trials of a study that all have the same few names.
// Each name is stored once for the whole program, so an entry takes only a pointer and its value.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mase::samplers {

/// The shared string that is equal to this name. It lives until the program ends. Thread-safe.
const std::string& shared_name(std::string_view name);

/// Like std::map<std::string, T>, sorted by name. Entries are pairs of references.
template <class T>
class NameMap {
  using Entry = std::pair<const std::string*, T>;
  using Entries = std::vector<Entry>;

 public:
  using value_type = std::pair<const std::string&, const T&>;

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = NameMap::value_type;
    using reference = value_type;
    struct pointer {
      value_type entry;
      const value_type* operator->() const { return &entry; }
    };

    const_iterator() = default;
    explicit const_iterator(typename Entries::const_iterator place) : place_(place) {}
    reference operator*() const { return {*place_->first, place_->second}; }
    pointer operator->() const { return {**this}; }
    const_iterator& operator++() { return ++place_, *this; }
    const_iterator operator++(int) { return const_iterator(place_++); }
    bool operator==(const const_iterator&) const = default;

   private:
    typename Entries::const_iterator place_;
  };

  NameMap() = default;
  NameMap(std::initializer_list<std::pair<const std::string, T>> entries) {
    for (const auto& [name, value] : entries) (*this)[name] = value;
  }

  const_iterator begin() const { return const_iterator(entries_.begin()); }
  const_iterator end() const { return const_iterator(entries_.end()); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

  const_iterator find(std::string_view name) const {
    const auto place = place_of(name);
    return const_iterator(is_at(place, name) ? place : entries_.end());
  }
  bool contains(std::string_view name) const { return is_at(place_of(name), name); }
  /// Throws std::out_of_range if there is no such name.
  const T& at(std::string_view name) const {
    const auto place = place_of(name);
    if (!is_at(place, name)) throw std::out_of_range("no entry '" + std::string(name) + "'");
    return place->second;
  }
  T& operator[](std::string_view name) {
    const auto place = entries_.begin() + (place_of(name) - entries_.cbegin());
    if (is_at(place, name)) return place->second;
    return entries_.insert(place, Entry{&shared_name(name), T()})->second;
  }
  void erase(std::string_view name) {
    if (const auto place = place_of(name); is_at(place, name)) entries_.erase(place);
  }
  /// Releases unused capacity.
  void shrink_to_fit() { entries_.shrink_to_fit(); }

  /// Equal names share one string, so it is enough to compare pointers.
  bool operator==(const NameMap&) const = default;
  bool operator<(const NameMap& other) const {
    return std::lexicographical_compare(begin(), end(), other.begin(), other.end());
  }

 private:
  typename Entries::const_iterator place_of(std::string_view name) const {
    return std::lower_bound(
        entries_.begin(), entries_.end(), name,
        [](const Entry& entry, std::string_view wanted) { return *entry.first < wanted; });
  }
  bool is_at(typename Entries::const_iterator place, std::string_view name) const {
    return place != entries_.end() && *place->first == name;
  }

  Entries entries_;
};

}  // namespace mase::samplers
