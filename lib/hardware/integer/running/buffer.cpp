// SPDX-License-Identifier: Apache-2.0
// Converting between codes and their storage.
#include "hardware/integer/running/buffer.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace mase::integer {
namespace {

constexpr std::size_t read_past_end = 2;

template <class T>
bool fits(const FixedType& type) {
  return type.low() >= std::numeric_limits<T>::min() &&
         type.high() <= std::numeric_limits<T>::max();
}

}  // namespace

Storage storage_for(const FixedType& type) {
  if (fits<std::int16_t>(type)) return Storage::narrow;
  if (fits<std::int32_t>(type)) return Storage::middle;
  return fits<std::int64_t>(type) ? Storage::wide : Storage::exact;
}

void Buffer::resize(std::size_t count) {
  size_ = count;
  switch (storage_) {
    case Storage::narrow:
      if (narrow_.size() < count + read_past_end) narrow_.resize(count + read_past_end);
      break;
    case Storage::middle:
      if (middle_.size() < count) middle_.resize(count);
      break;
    case Storage::wide:
      wide_.resize(count);
      break;
    case Storage::exact:
      exact_.resize(count);
      break;
  }
}

void Buffer::set(std::span<const std::int64_t> codes) {
  resize(codes.size());
  switch (storage_) {
    case Storage::narrow:
      for (std::size_t i = 0; i < codes.size(); ++i)
        narrow_[i] = static_cast<std::int16_t>(codes[i]);
      break;
    case Storage::middle:
      for (std::size_t i = 0; i < codes.size(); ++i)
        middle_[i] = static_cast<std::int32_t>(codes[i]);
      break;
    case Storage::wide:
      std::ranges::copy(codes, wide_.begin());
      break;
    case Storage::exact:
      throw Error(Fault::internal, "codes of 64 bits for an exact sum");
  }
}

void Buffer::append_to(Codes& codes) const {
  const auto count = static_cast<std::ptrdiff_t>(size_);
  switch (storage_) {
    case Storage::narrow:
      codes.insert(codes.end(), narrow_.begin(), narrow_.begin() + count);
      break;
    case Storage::middle:
      codes.insert(codes.end(), middle_.begin(), middle_.begin() + count);
      break;
    case Storage::wide:
      codes.insert(codes.end(), wide_.begin(), wide_.end());
      break;
    case Storage::exact:
      throw Error(Fault::internal, "an exact sum has no codes of 64 bits");
  }
}

}  // namespace mase::integer
