// SPDX-License-Identifier: Apache-2.0
// Values that a pass computes from the graph and leaves for later passes of the same pipeline.
#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace mase::passes {

/// Values computed from the present graph, one of each type. The runner drops them all when a pass
/// changes the graph.
class Derived {
 public:
  /// The value of this type; null when no pass has left one.
  template <class T>
  const T* find() const {
    const auto found = values_.find(typeid(T));
    return found == values_.end() ? nullptr : static_cast<const T*>(found->second.get());
  }
  /// Keeps a value, in place of an earlier one of this type.
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
