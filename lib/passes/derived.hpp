// SPDX-License-Identifier: Apache-2.0
// What passes make from the graph and leave for later passes of the same pipeline.
#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace mase::passes {

/// Values made from the graph as it is now, one of each type. The runner forgets them all when a
/// pass changes the graph.
class Derived {
 public:
  /// Null when no pass has left such a value.
  template <class T>
  const T* find() const {
    const auto found = values_.find(typeid(T));
    return found == values_.end() ? nullptr : static_cast<const T*>(found->second.get());
  }
  /// Takes the place of an earlier value of this type.
  template <class T>
  const T& keep(T value) {
    auto kept = std::make_shared<const T>(std::move(value));
    values_[typeid(T)] = kept;
    return *kept;
  }
  void clear() { values_.clear(); }

 private:
  std::map<std::type_index, std::shared_ptr<const void>> values_;
};

}  // namespace mase::passes
