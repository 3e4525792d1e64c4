// SPDX-License-Identifier: Apache-2.0
// Reads pickled values without running code. It understands the few classes that torch.save writes
// for a state_dict, TorchScript for a module and numpy for an array of bytes; everything else
// becomes an inert value.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array.hpp"

namespace mase::pickle {

/// A value in a pickle. Values refer to each other by pointers into the arena of their Pickle.
struct PickleItem {
  enum class Kind {
    other,  ///< None, a real number, a device, or any other irrelevant value
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
    tensor,
    number_type,  ///< of an array; `text` is its code
    array         ///< of bytes, in `text`
  };
  Kind kind = Kind::other;
  std::int64_t integer = 0;              ///< or a tensor's offset, in elements; array: 1 if
                                         ///< its first index changes fastest
  std::string text;                      ///< or "module name", or a storage's key
  std::vector<const PickleItem*> items;  ///< list or tuple
  std::vector<std::pair<std::string, const PickleItem*>>
      entries;                   ///< dict, or an object's attributes; text keys only
  DType dtype = DType::float32;  ///< storage and tensor
  std::int64_t stored = 0;       ///< storage and tensor: declared number of elements
  Shape shape, strides;          ///< tensor, in elements; an array has a shape
  bool fresh = false;            ///< an empty list or dict without references
  int depth = 0;                 ///< nesting of values
  std::uint64_t values = 1;      ///< number of values in a copy of it, saturating
};

/// A decoded pickle: all its items, and the top-level one.
struct Pickle {
  std::deque<PickleItem> arena;
  const PickleItem* result = nullptr;
};

/// The writer of a pickle, and its other readers.
enum class PickleOf {
  /// Written by Python's torch.save; only mase reads it.
  state_dict,
  /// Written by TorchScript's pickler. LibTorch reads it too, so only what that pickler writes is
  /// accepted, which both understand in the same way.
  module,
  /// Written by Python 2 or 3 with arrays of numpy of type uint8; only mase reads it. Strings of
  /// bytes are texts.
  arrays
};

/// Decodes a pickle. Error(Fault::file) that names `origin` if it is damaged or not understood.
Pickle read_pickle(std::string_view bytes, const std::string& origin, PickleOf kind);

/// Checks a tensor or a storage against the size of the storage's entry, `bytes`: all elements that
/// sizes, strides and offset reach must exist. Error(Fault::file) that names `origin` otherwise.
void check_extent(const PickleItem& item, std::uint64_t bytes, const std::string& origin);

}  // namespace mase::pickle
