// SPDX-License-Identifier: Apache-2.0
// Reading of pickled values without running anything: the few classes that torch.save writes for a
// state_dict and TorchScript for a module; everything else is an inert value.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array.hpp"

namespace mase::checkpoint {

/// A value of a pickle. Values refer to each other by pointers into their Pickle's arena.
struct PickleItem {
  enum class Kind {
    other,  ///< None, a real number, a device, or what we need not know
    boolean,
    integer,
    text,
    global,
    tuple,
    list,
    dict,
    unfinished,  ///< an object without its state
    object,
    storage,
    tensor
  };
  Kind kind = Kind::other;
  std::int64_t integer = 0;              ///< also a tensor's offset, in elements
  std::string text;                      ///< also "module name", a storage's key
  std::vector<const PickleItem*> items;  ///< list or tuple
  std::vector<std::pair<std::string, const PickleItem*>>
      entries;                   ///< dict, or an object's attributes; text keys only
  DType dtype = DType::float32;  ///< storage and tensor
  std::int64_t stored = 0;       ///< storage and tensor: elements that the storage is said to have
  Shape shape, strides;          ///< tensor, in elements
  bool fresh = false;            ///< an empty list or dict that nothing refers to yet
  int depth = 0;                 ///< of values inside of values
  std::uint64_t values = 1;      ///< that a copy of it would have, saturating
};

/// A decoded pickle: all its items, and the one that it stands for.
struct Pickle {
  std::deque<PickleItem> arena;
  const PickleItem* result = nullptr;
};

/// Who wrote a pickle, and who will read it, too.
enum class PickleOf {
  /// Python's torch.save; we alone read it.
  state_dict,
  /// TorchScript's pickler. LibTorch reads it after us, so only what that pickler writes is
  /// accepted: then there is one way to understand it.
  module
};

/// Error(Fault::file) naming `origin` for a damaged pickle or one with unknown instructions.
Pickle read_pickle(std::string_view bytes, const std::string& origin, PickleOf kind);

/// Checks a tensor or a storage against the entry of `bytes` bytes that holds the storage: all that
/// sizes, strides and offset reach must be there. Error(Fault::file) naming `origin` otherwise.
void check_extent(const PickleItem& item, std::uint64_t bytes, const std::string& origin);

}  // namespace mase::checkpoint
