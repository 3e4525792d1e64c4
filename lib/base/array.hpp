// SPDX-License-Identifier: Apache-2.0
// Array: an n-d array in row-major order whose copies share their bytes (copy on write), and its
// .npy form. Weights, batches and results pass between folders as Arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace mase {

class FileMap;

/// Element types, named as PyTorch names them.
enum class DType : std::uint8_t {
  float32,
  float64,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  uint16,
  uint32
};

std::size_t size_of(DType dtype);          ///< bytes of one element
std::string_view dtype_name(DType dtype);  ///< "float32", ..., "bool"
DType parse_dtype(std::string_view name);  ///< inverse; Error(Fault::file) when unknown
bool is_floating(DType dtype);             ///< numbers with an exponent, of 16 to 64 bits

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

using Shape = std::vector<std::int64_t>;

/// The product of the sizes; nullopt when it does not fit 64 bits.
std::optional<std::int64_t> product_of(const Shape& shape);
std::int64_t numel(
    const Shape& shape);  ///< product; Error(Fault::file) on overflow or a negative size
std::string shape_text(const Shape& shape);  ///< "[4, 16]"

/// Elements of one type with a shape. Copies share the bytes until one of them writes. Asking for
/// another type or number of elements than the array has is an internal error.
class Array {
 public:
  Array() : Array(DType::float32, Shape{0}) {}
  Array(DType dtype, Shape shape);  ///< zero-filled

  /// The bytes of a mapped file from `offset` on; they are copied into memory by the first write.
  /// At another offset than a multiple of the element's size, span() is an error until aligned().
  static Array mapped(DType dtype, Shape shape, std::shared_ptr<const FileMap> file,
                      std::size_t offset);
  /// An array whose bytes the caller sets at once. They lie in large pages where there are many.
  static Array uninitialized(DType dtype, Shape shape);
  /// The bytes of make(), which is called when they are first asked for, once for all copies and by
  /// any thread. It returns an array in memory of this type and shape. What it throws is thrown by
  /// whatever asks for bytes.
  static Array deferred(DType dtype, Shape shape, std::function<Array()> make);
  /// The elements of `stored` as float32, which are made when they are asked for; a float32 array
  /// is returned itself.
  static Array widened(const Array& stored);

  template <class T>
  static Array from(std::span<const T> values, Shape shape) {
    Array array(DTypeOf<T>::value, std::move(shape));
    MASE_CHECK(static_cast<std::int64_t>(values.size()) == array.size(),
               "array size and shape differ");
    std::copy(values.begin(), values.end(), array.mutable_span<T>().begin());
    return array;
  }
  template <class T>
  static Array from(const std::vector<T>& values, Shape shape) {
    return from(std::span<const T>(values), std::move(shape));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return size_; }  ///< number of elements
  std::size_t byte_size() const { return static_cast<std::size_t>(size_) * size_of(dtype_); }

  const std::byte* bytes() const { return deferred_ ? made().bytes() : buffer_.get(); }
  std::byte* mutable_bytes();  ///< detaches from other copies and from a file first
  /// The file that the bytes are mapped from; null for an array in memory.
  const FileMap* file() const { return file_; }

  template <class T>
  std::span<const T> span() const {
    MASE_CHECK(DTypeOf<T>::value == dtype_, "array read as another dtype");
    MASE_CHECK(is_aligned(), "elements of a file read where they are not aligned");
    return {reinterpret_cast<const T*>(bytes()), static_cast<std::size_t>(size_)};
  }
  template <class T>
  std::span<T> mutable_span() {
    MASE_CHECK(DTypeOf<T>::value == dtype_, "array written as another dtype");
    return {reinterpret_cast<T*>(mutable_bytes()), static_cast<std::size_t>(size_)};
  }

  bool is_aligned() const {
    return deferred_ || reinterpret_cast<std::uintptr_t>(bytes()) % size_of(dtype_) == 0;
  }
  Array aligned() const;  ///< the array itself, or a copy if it is not aligned

  Array reshaped(Shape shape) const;                         ///< same elements, shared
  Array rows(std::int64_t first, std::int64_t count) const;  ///< a slice of dimension 0, copied
  /// The elements as float32; a float32 array is returned without conversion.
  Array to_float32() const;
  /// What `widened` was given, with this shape, for who reads it piece by piece or but once: the
  /// float32 numbers are not made. Other arrays are returned themselves.
  Array as_stored() const;
  bool same_bits(const Array& other) const;  ///< dtype, shape and every bit equal

  /// Keeps the bytes alive for a view that another library makes.
  std::shared_ptr<const std::byte> share() const { return deferred_ ? made().share() : buffer_; }

 private:
  class Deferred;
  static Array deferred_by(DType dtype, Shape shape, std::shared_ptr<Deferred> deferred);
  const Array& made() const;  ///< of a deferred array

  DType dtype_;
  Shape shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<std::byte> buffer_;  ///< owns the bytes, or the file
  const FileMap* file_ = nullptr;
  std::shared_ptr<Deferred> deferred_;  ///< makes the bytes of this array and its copies
};

/// Reads an .npy file (version 1.0 to 3.0, C or Fortran order, either byte order).
/// Throws Error(Fault::file), which names the file, for any other file and for a truncated one.
Array read_npy(const std::string& path);
/// The same, but the array stays in its file where it can: in a regular file, in row-major order
/// and this machine's byte order. Such a file may be larger than memory.
Array map_npy(const std::string& path);
/// Writes .npy version 1.0 atomically.
void write_npy(const std::string& path, const Array& array);

}  // namespace mase
