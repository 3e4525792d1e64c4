// SPDX-License-Identifier: Apache-2.0
// Element types, shapes and the shared buffer of Array.
#include "base/array.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "base/file_map.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"

namespace mase {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
  bool floating = false;
};

constexpr DTypeRow dtype_rows[] = {
    {DType::float32, "float32", 4, true}, {DType::float64, "float64", 8, true},
    {DType::float16, "float16", 2, true}, {DType::bfloat16, "bfloat16", 2, true},
    {DType::int64, "int64", 8},           {DType::int32, "int32", 4},
    {DType::int16, "int16", 2},           {DType::int8, "int8", 1},
    {DType::uint8, "uint8", 1},           {DType::boolean, "bool", 1},
    {DType::uint16, "uint16", 2},         {DType::uint32, "uint32", 4},
};

const DTypeRow& row_of(DType dtype) {
  const auto* row = std::find_if(std::begin(dtype_rows), std::end(dtype_rows),
                                 [&](const DTypeRow& one) { return one.dtype == dtype; });
  MASE_CHECK(row != std::end(dtype_rows), "an element type is missing from the table");
  return *row;
}

/// IEEE binary16 to binary32, exact: a subnormal is its fraction times 2^-24.
float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = (bits >> 10) & 31U, fraction = bits & 0x3FFU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

template <class T, class Convert>
void convert(const Array& from, std::span<float> to, Convert one) {
  const std::byte* bytes = from.bytes();
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    to[i] = one(value);
  }
}

void fill_float32(const Array& from, std::span<float> to) {
  const auto cast = [](auto value) { return static_cast<float>(value); };
  switch (from.dtype()) {
    case DType::float32:
      return convert<float>(from, to, cast);
    case DType::float64:
      return convert<double>(from, to, cast);
    case DType::float16:
      return convert<std::uint16_t>(from, to, half_to_float);
    case DType::bfloat16:
      return convert<std::uint16_t>(from, to, bfloat_to_float);
    case DType::int64:
      return convert<std::int64_t>(from, to, cast);
    case DType::int32:
      return convert<std::int32_t>(from, to, cast);
    case DType::int16:
      return convert<std::int16_t>(from, to, cast);
    case DType::int8:
      return convert<std::int8_t>(from, to, cast);
    case DType::uint8:
      return convert<std::uint8_t>(from, to, cast);
    case DType::boolean:
      return convert<std::uint8_t>(from, to, cast);
    case DType::uint16:
      return convert<std::uint16_t>(from, to, cast);
    case DType::uint32:
      return convert<std::uint32_t>(from, to, cast);
  }
}

/// False for so many bytes that the system would grant them and end this process when it uses them.
bool fits_memory(std::size_t bytes) {
  constexpr std::size_t large = std::size_t{1} << 30;
  return bytes < large || bytes <= available_memory().value_or(bytes);
}

[[noreturn]] void no_memory(DType dtype, const Shape& shape) {
  file_error("not enough memory for a " + std::string(dtype_name(dtype)) + " array of shape " +
             shape_text(shape));
}

/// The bytes that so many elements take. Error(Fault::file) for more than there is memory.
std::size_t bytes_of(std::int64_t count, DType dtype, const Shape& shape) {
  constexpr std::size_t most = std::size_t{1} << 40;  // a larger size comes from a damaged file
  std::size_t bytes = 0;
  const bool overflow =
      __builtin_mul_overflow(static_cast<std::size_t>(count), size_of(dtype), &bytes);
  if (overflow || bytes >= most || !fits_memory(bytes)) no_memory(dtype, shape);
  return bytes;
}

std::shared_ptr<std::byte> allocate(std::int64_t count, DType dtype, const Shape& shape) {
  const std::size_t bytes = bytes_of(count, dtype, shape);
  try {
    auto owner = std::make_shared<std::vector<std::byte>>(bytes);
    std::byte* const first = owner->data();
    return {std::move(owner), first};
  } catch (const std::bad_alloc&) {
    no_memory(dtype, shape);
  }
}

/// Memory without values. The system gives it page by page on first use, which takes longer than to
/// write to it, but for large pages.
std::shared_ptr<std::byte> allocate_unset(std::int64_t count, DType dtype, const Shape& shape) {
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::size_t bytes = bytes_of(count, dtype, shape);
  const bool many = bytes >= 2 * page;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  void* first =
      many ? std::aligned_alloc(page, rounded) : std::malloc(std::max<std::size_t>(bytes, 1));
  if (!first) no_memory(dtype, shape);
  if (many) ::madvise(first, bytes, MADV_HUGEPAGE);  // a wish only
  return {static_cast<std::byte*>(first), [](std::byte* bytes) { std::free(bytes); }};
}

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).size; }
std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }
bool is_floating(DType dtype) { return row_of(dtype).floating; }

DType parse_dtype(std::string_view name) {
  std::vector<std::string> names;
  for (const DTypeRow& row : dtype_rows) {
    if (row.name == name) return row.dtype;
    names.emplace_back(row.name);
  }
  file_error("unknown element type " + quote(name) + "; known: " + join(names, ", "));
}

std::optional<std::int64_t> product_of(const Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  return product;
}

std::int64_t numel(const Shape& shape) {
  for (const std::int64_t size : shape)
    if (size < 0) file_error("negative size in shape " + shape_text(shape));
  const auto product = product_of(shape);
  if (!product)
    file_error("shape " + shape_text(shape) + " has more elements than 64 bits can count");
  return *product;
}

std::string shape_text(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
  return "[" + join(sizes, ", ") + "]";
}

Array::Array(DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      size_(numel(shape_)),
      buffer_(allocate(size_, dtype_, shape_)) {}

Array Array::mapped(DType dtype, Shape shape, std::shared_ptr<const FileMap> file,
                    std::size_t offset) {
  Array array(dtype, Shape{0});
  array.size_ = numel(shape);
  array.shape_ = std::move(shape);
  const std::string_view bytes = file->bytes();
  MASE_CHECK(offset <= bytes.size() && array.byte_size() <= bytes.size() - offset,
             "a mapped array is outside of its file");
  array.file_ = file.get();
  void* const first = const_cast<char*>(bytes.data() + offset);
  array.buffer_ = {std::const_pointer_cast<FileMap>(std::move(file)),
                   static_cast<std::byte*>(first)};
  return array;
}

Array Array::uninitialized(DType dtype, Shape shape) {
  Array array(dtype, Shape{0});
  array.size_ = numel(shape);
  array.buffer_ = allocate_unset(array.size_, dtype, shape);
  array.shape_ = std::move(shape);
  return array;
}

class Array::Deferred {
 public:
  explicit Deferred(std::function<Array()> make) : make_(std::move(make)) {}
  /// The elements of an array as float32.
  explicit Deferred(const Array& stored)
      : stored_(stored), make_([stored] { return stored.to_float32(); }) {}

  const std::optional<Array>& stored() const { return stored_; }

  const Array& get() {
    std::call_once(once_, [this] {
      made_ = make_();
      make_ = nullptr;  // and what it holds
    });
    return made_;
  }

 private:
  std::optional<Array> stored_;
  std::once_flag once_;
  std::function<Array()> make_;
  Array made_;
};

Array Array::deferred_by(DType dtype, Shape shape, std::shared_ptr<Deferred> deferred) {
  Array array(dtype, Shape{0});
  array.size_ = numel(shape);
  array.shape_ = std::move(shape);
  array.deferred_ = std::move(deferred);
  return array;
}

Array Array::deferred(DType dtype, Shape shape, std::function<Array()> make) {
  return deferred_by(dtype, std::move(shape), std::make_shared<Deferred>(std::move(make)));
}

Array Array::widened(const Array& stored) {
  if (stored.dtype() == DType::float32) return stored;
  return deferred_by(DType::float32, stored.shape(), std::make_shared<Deferred>(stored));
}

Array Array::as_stored() const {
  return deferred_ && deferred_->stored() ? deferred_->stored()->reshaped(shape_) : *this;
}

const Array& Array::made() const {
  const Array& array = deferred_->get();
  MASE_CHECK(array.dtype_ == dtype_ && array.size_ == size_ && !array.deferred_,
             "a deferred array was made as another one");
  return array;
}

Array Array::aligned() const {
  if (is_aligned()) return *this;
  Array copy = uninitialized(dtype_, shape_);
  std::memcpy(copy.mutable_bytes(), bytes(), byte_size());
  if (file_) file_->was_read(byte_size());
  return copy;
}

std::byte* Array::mutable_bytes() {
  if (deferred_) {
    buffer_ = made().buffer_;
    file_ = made().file_;
    deferred_ = nullptr;
  }
  if (file_ || buffer_.use_count() > 1) {
    const auto copy = allocate(size_, dtype_, shape_);
    if (size_ > 0) std::memcpy(copy.get(), bytes(), byte_size());
    buffer_ = copy;
    file_ = nullptr;
  }
  return buffer_.get();
}

Array Array::reshaped(Shape shape) const {
  MASE_CHECK(numel(shape) == size_,
             "array of shape " + shape_text(shape_) + " cannot take shape " + shape_text(shape));
  Array out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Array Array::rows(std::int64_t first, std::int64_t count) const {
  MASE_CHECK(!shape_.empty() && first >= 0 && count >= 0 && first <= shape_[0] - count,
             "rows " + std::to_string(first) + " + " + std::to_string(count) +
                 " are outside of shape " + shape_text(shape_));
  Shape shape = shape_;
  shape[0] = count;
  Array out(dtype_, std::move(shape));
  if (out.byte_size() == 0) return out;
  const std::size_t row_bytes = byte_size() / static_cast<std::size_t>(shape_[0]);
  std::memcpy(out.mutable_bytes(), bytes() + static_cast<std::size_t>(first) * row_bytes,
              out.byte_size());
  return out;
}

Array Array::to_float32() const {
  if (dtype_ == DType::float32) return *this;
  Array out(DType::float32, shape_);
  fill_float32(*this, out.mutable_span<float>());
  return out;
}

bool Array::same_bits(const Array& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         (size_ == 0 || std::memcmp(bytes(), other.bytes(), byte_size()) == 0);
}

}  // namespace mase
