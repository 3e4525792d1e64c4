// SPDX-License-Identifier: Apache-2.0
// Buffer: the codes of one value in the narrowest of four integer types that holds its type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hardware/integer/program.hpp"

namespace mase::integer {

enum class Storage { narrow, middle, wide, exact };  ///< 16, 32, 64, 128 bits

Storage storage_for(const FixedType& type);

/// Codes in the order of the stream.
class Buffer {
 public:
  explicit Buffer(Storage storage = Storage::wide) : storage_(storage) {}

  Storage storage() const { return storage_; }
  void resize(std::size_t count);
  std::size_t size() const { return size_; }

  // Elements in the storage's own type; a narrow buffer may be read one pair past its end.
  std::int16_t* narrow() { return narrow_.data(); }
  const std::int16_t* narrow() const { return narrow_.data(); }
  std::int32_t* middle() { return middle_.data(); }
  const std::int32_t* middle() const { return middle_.data(); }

  std::vector<Wide>& exact() { return exact_; }
  const std::vector<Wide>& exact() const { return exact_; }

  // For all but exact storage.
  void set(std::span<const std::int64_t> codes);
  void append_to(Codes& codes) const;

 private:
  Storage storage_;
  std::size_t size_ = 0;
  std::vector<std::int16_t> narrow_;
  std::vector<std::int32_t> middle_;
  Codes wide_;
  std::vector<Wide> exact_;
};

}  // namespace mase::integer
