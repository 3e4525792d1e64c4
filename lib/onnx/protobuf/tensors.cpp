// SPDX-License-Identifier: Apache-2.0
// TensorProto to Array and back: raw bytes, typed fields, packed codes and external data.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/file.hpp"
#include "onnx/protobuf/proto.hpp"

namespace mase::onnx {
namespace fs = std::filesystem;

/// Bytes with the file that they lie in; no file for those of a message.
struct TensorReader::Source {
  const char* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<const FileMap> file = nullptr;
};

namespace {

std::string external_field(const proto::TensorProto& message, std::string_view key) {
  for (const auto& entry : message.external_data())
    if (entry.key() == key) return entry.value();
  return "";
}

/// A count of bytes; nullopt for text that is none.
std::optional<std::size_t> count_of(const std::string& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Copies numbers of a typed field, each cast to T, whose bits they hold.
template <class T, class Field>
void copy_cast(const Field& field, Array& array) {
  auto* to = reinterpret_cast<T*>(array.mutable_bytes());
  for (const auto value : field) *to++ = static_cast<T>(value);
}

/// Copies the typed field of the message into `array`, which has as many elements.
template <class Field>
void copy_field(const Field& field, Array& array) {
  switch (size_of(array.dtype())) {
    case 1:
      return copy_cast<std::uint8_t>(field, array);
    case 2:
      return copy_cast<std::uint16_t>(field, array);
    case 4:
      return copy_cast<std::uint32_t>(field, array);
    default:
      return copy_cast<std::uint64_t>(field, array);
  }
}

/// Calls f with the typed field that holds elements of a type (onnx.proto, TensorProto).
template <class F>
auto with_field(const proto::TensorProto& message, ElementType type, F&& f) {
  switch (type) {
    case ElementType::float32:
      return f(message.float_data());
    case ElementType::float64:
      return f(message.double_data());
    case ElementType::int64:
      return f(message.int64_data());
    case ElementType::uint32:
    case ElementType::uint64:
      return f(message.uint64_data());
    default:
      return f(message.int32_data());
  }
}

std::size_t packed_bytes(std::size_t elements, int bits) {
  return (elements * static_cast<std::size_t>(bits) + 7) / 8;
}

/// The codes of a type of fewer than 8 bits, the first in the lowest bits of a byte.
void unpack(const char* bytes, int bits, std::span<std::uint8_t> codes) {
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  const auto mask = static_cast<std::uint8_t>((1 << bits) - 1);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i / per_byte]);
    codes[i] =
        static_cast<std::uint8_t>(byte >> (static_cast<std::size_t>(bits) * (i % per_byte))) & mask;
  }
}

std::string pack(std::span<const std::uint8_t> codes, int bits) {
  const auto per_byte = static_cast<std::size_t>(8 / bits);
  std::string bytes(packed_bytes(codes.size(), bits), '\0');
  for (std::size_t i = 0; i < codes.size(); ++i) {
    auto& byte = bytes[i / per_byte];
    byte = static_cast<char>(static_cast<std::uint8_t>(byte) |
                             codes[i] << (static_cast<std::size_t>(bits) * (i % per_byte)));
  }
  return bytes;
}

}  // namespace

void TensorReader::refuse(const proto::TensorProto& message, const std::string& reason) const {
  file_error(file_->path() + ": tensor '" + message.name() + "': " + reason);
}

TensorReader::Source TensorReader::external(const proto::TensorProto& message) {
  const std::string location = external_field(message, "location");
  if (location.empty() || !stays_inside(location))
    refuse(message, "its external data '" + location + "' lie outside of the model's folder; put " +
                        "them beside the model, and name them relative to it");
  auto& file = external_[location];
  if (!file) {
    const fs::path folder = fs::absolute(file_->path()).parent_path();
    const fs::path path = fs::weakly_canonical(folder / location);
    const fs::path inside = path.lexically_relative(fs::weakly_canonical(folder));
    if (inside.empty() || *inside.begin() == "..")
      refuse(message, "its external data '" + location + "' lead out of the model's folder");
    if (!file_exists(path.string()))
      refuse(message, "its external data '" + location + "' are missing beside the model");
    file = FileMap::open(path.string());
    if (!file) refuse(message, "its external data '" + location + "' are not a file with bytes");
  }
  const auto field = [&](std::string_view key, std::size_t otherwise) {
    const std::string text = external_field(message, key);
    if (text.empty()) return otherwise;
    const auto count = count_of(text);
    if (!count) refuse(message, "the " + std::string(key) + " '" + text + "' is not a number");
    return *count;
  };
  const std::size_t all = file->bytes().size(), offset = field("offset", 0);
  const std::size_t length = field("length", offset <= all ? all - offset : 0);
  if (offset > all || length > all - offset)
    refuse(message, "its external data are bytes " + std::to_string(offset) + " to " +
                        std::to_string(offset) + " + " + std::to_string(length) + " of '" +
                        location + "', which has " + std::to_string(all));
  return {file->bytes().data() + offset, length, file};
}

TensorReader::Source TensorReader::source_of(const proto::TensorProto& message,
                                             const RawBytes* raw) {
  if (message.data_location() == proto::TensorProto_DataLocation_EXTERNAL) return external(message);
  if (raw) return {file_->bytes().data() + raw->offset, raw->size, file_};
  return {message.raw_data().data(), message.raw_data().size()};
}

/// In the file, if it is there.
Array TensorReader::unpacked(const Source& source, const ElementRow& row, Shape shape) const {
  if (row.bits < 8) {
    Array array(DType::uint8, std::move(shape));
    unpack(source.data, row.bits, array.mutable_span<std::uint8_t>());
    return array;
  }
  if (source.file && row.type != ElementType::boolean) {
    const auto offset = static_cast<std::size_t>(source.data - source.file->bytes().data());
    return Array::mapped(*row.dtype, std::move(shape), source.file, offset);
  }
  Array array(*row.dtype, std::move(shape));
  std::byte* to = array.mutable_bytes();
  if (source.file)
    source.file->copy(reinterpret_cast<const std::byte*>(source.data), source.size, to);
  else if (source.size > 0)
    std::memcpy(to, source.data, source.size);
  // A bool has no other values than 0 and 1.
  if (row.type == ElementType::boolean)
    std::transform(to, to + source.size, to,
                   [](std::byte one) { return std::byte{one != std::byte{0}}; });
  return array;
}

Array TensorReader::values(const proto::TensorProto& message, const RawBytes* raw) {
  const auto type = static_cast<ElementType>(message.data_type());
  const ElementRow* row = find_element(type);
  if (!row)
    refuse(message, "its element type has the number " + std::to_string(message.data_type()) +
                        ", which is not known");
  Shape shape(message.dims().begin(), message.dims().end());
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; }) || !product_of(shape))
    refuse(message, "its shape is " + shape_text(shape));
  if (!row->dtype) return {};
  const auto elements = static_cast<std::size_t>(numel(shape));
  const auto differ = [&](std::size_t has, const char* what) {
    refuse(message, "its shape " + shape_text(shape) + " does not fit its " + std::to_string(has) +
                        " " + what);
  };
  const std::size_t fields =
      with_field(message, type, [](const auto& field) { return std::size_t(field.size()); });
  if (fields > 0 && !raw && message.data_location() == proto::TensorProto_DataLocation_DEFAULT) {
    // Codes of fewer than 8 bits are packed in the typed field, too.
    const std::size_t expected = row->bits < 8 ? packed_bytes(elements, row->bits) : elements;
    if (fields != expected) differ(fields, "elements");
    if (row->bits < 8) {
      std::string bytes;
      for (const auto value : message.int32_data()) bytes.push_back(static_cast<char>(value));
      return unpacked({bytes.data(), bytes.size()}, *row, shape);
    }
    Array array(*row->dtype, shape);
    if (*row->dtype == DType::float32)
      std::copy(message.float_data().begin(), message.float_data().end(),
                array.mutable_span<float>().begin());
    else if (*row->dtype == DType::float64)
      std::copy(message.double_data().begin(), message.double_data().end(),
                array.mutable_span<double>().begin());
    else
      with_field(message, type, [&](const auto& field) { copy_field(field, array); });
    return array;
  }
  const Source source = source_of(message, raw);
  if (elements > std::numeric_limits<std::size_t>::max() / 64 ||
      source.size != packed_bytes(elements, row->bits))
    differ(source.size, "bytes");
  return unpacked(source, *row, std::move(shape));
}

Tensor TensorReader::read(const proto::TensorProto& message, const RawBytes* raw) {
  if (message.has_segment()) refuse(message, "it is stored in segments, which ONNX gave up");
  Tensor tensor{message.name(),
                static_cast<ElementType>(message.data_type()),
                values(message, raw),
                message.doc_string(),
                {}};
  if (tensor.type == ElementType::uint64) {
    if (std::ranges::any_of(tensor.value.span<std::int64_t>(), [](auto one) { return one < 0; }))
      refuse(message, "it has values above 2^63 - 1; store them as INT64 or DOUBLE");
    tensor.type = ElementType::int64;
  }
  return tensor;
}

std::vector<std::string> TensorReader::external_files() const {
  std::vector<std::string> paths;
  for (const auto& [location, file] : external_) paths.push_back(file->path());
  return paths;
}

void write_tensor(const Tensor& tensor, proto::TensorProto& message) {
  message.set_name(tensor.name);
  message.set_data_type(static_cast<std::int32_t>(tensor.type));
  for (const std::int64_t size : tensor.value.shape()) message.add_dims(size);
  if (!tensor.doc.empty()) message.set_doc_string(tensor.doc);
  const ElementRow* row = find_element(tensor.type);
  MASE_CHECK(row && row->dtype == tensor.value.dtype(), "a tensor of another element type");
  if (row->bits < 8)
    message.set_raw_data(pack(tensor.value.span<std::uint8_t>(), row->bits));
  else
    message.set_raw_data(tensor.value.bytes(), tensor.value.byte_size());
}

}  // namespace mase::onnx
