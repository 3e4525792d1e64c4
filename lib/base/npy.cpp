// SPDX-License-Identifier: Apache-2.0
// The .npy format (NumPy enhancement proposal 1 and numpy/lib/format.py): reads versions 1.0 to 3.0
// from untrusted files and writes version 1.0; .npz archives are zip files of such files.
#include "base/npy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/file.hpp"
#include "base/file_map.hpp"
#include "base/text.hpp"
#include "base/zip_directory.hpp"
#include "base/zip_image.hpp"
#include "base/zip_reader.hpp"

namespace mase {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

struct DescrRow {
  std::string_view code;  ///< without the byte-order mark
  DType dtype;
};

/// numpy has no bfloat16; it saves such arrays of ml_dtypes as elements of two bytes without a
/// type.
constexpr DescrRow descr_rows[] = {
    {"f4", DType::float32}, {"f8", DType::float64}, {"f2", DType::float16}, {"i8", DType::int64},
    {"i4", DType::int32},   {"i2", DType::int16},   {"i1", DType::int8},    {"u1", DType::uint8},
    {"b1", DType::boolean}, {"u2", DType::uint16},  {"u4", DType::uint32},  {"V2", DType::bfloat16},
};

/// Parses the header, a Python dict literal with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader parse() {
    expect('{');
    bool seen[3] = {};
    while (!accept('}')) {
      parse_entry(seen);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size() || !seen[0] || !seen[1] || !seen[2]) bad();
    return std::move(header_);
  }

 private:
  [[noreturn]] void bad() const { file_error("'" + path_ + "': damaged .npy header"); }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bad();
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void parse_entry(bool (&seen)[3]) {
    const std::string key = parse_string();
    const int index = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
    if (index < 0 || std::exchange(seen[index], true)) bad();
    expect(':');
    if (index == 0) header_.descr = parse_descr();
    if (index == 1) header_.fortran_order = parse_bool();
    if (index == 2) header_.shape = parse_shape();
  }

  std::string parse_string() {
    skip_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) bad();
    const auto end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) bad();
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  std::string parse_descr() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[')
      file_error("'" + path_ + "': structured arrays are not supported; save one plain array");
    return parse_string();
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) bad();
    return false;
  }

  Shape parse_shape() {
    constexpr std::size_t most_dimensions = 64;  // numpy's own limit
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(parse_size());
      if (shape.size() > most_dimensions) bad();
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::int64_t parse_size() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    const auto size = parse_int(text_.substr(start, at_ - start));
    if (!size) bad();
    accept('L');  // written by Python 2
    return *size;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  NpyHeader header_;
};

[[noreturn]] void truncated(const std::string& path) {
  file_error("'" + path + "' is truncated: it ends inside its .npy header");
}

/// Splits the file's bytes into header text and data.
std::pair<std::string_view, std::string_view> split_header(std::string_view bytes,
                                                           const std::string& path) {
  if (!bytes.starts_with(magic))
    file_error("'" + path + "' is not an .npy file; save one array with numpy.save");
  if (bytes.size() < 10) truncated(path);
  const auto byte = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  const std::size_t major = byte(6);
  if (major < 1 || major > 3)
    file_error("'" + path + "': .npy version " + std::to_string(major) + " is not supported");
  const std::size_t start = major == 1 ? 10 : 12;
  if (bytes.size() < start) truncated(path);
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start) truncated(path);
  return {bytes.substr(start, length), bytes.substr(start + length)};
}

DType dtype_of(const std::string& descr, const std::string& path) {
  const std::string where = "'" + path + "': ";
  std::string_view code = descr;
  const char order = code.empty() ? '?' : code.front();
  if (order == '<' || order == '>' || order == '|' || order == '=') code.remove_prefix(1);
  if (code.starts_with('O'))
    file_error(where + "it holds Python objects, not numbers; save a numeric array");
  for (const DescrRow& row : descr_rows)
    if (row.code == code) return row.dtype;
  file_error(where + "element type " + quote(descr) +
             " is not supported; save it as float32, float64, float16, bool or an integer of at "
             "most 64 bits (not uint64)");
}

void check_length(const NpyHeader& header, DType dtype, std::size_t given,
                  const std::string& path) {
  std::int64_t count = 0;
  try {
    count = numel(header.shape);
  } catch (const Error& error) {
    file_error("'" + path + "': " + error.what());
  }
  std::size_t needed = 0;
  const bool overflow =
      __builtin_mul_overflow(static_cast<std::size_t>(count), size_of(dtype), &needed);
  if (!overflow && needed == given) return;
  file_error("'" + path + "' is " + (overflow || needed > given ? "truncated" : "too long") +
             ": shape " + shape_text(header.shape) + " of " + std::string(dtype_name(dtype)) +
             " does not match its " + std::to_string(given) + " data bytes");
}

/// Copies elements in Fortran order (first index fastest) into row-major order.
void copy_fortran(std::string_view data, const Shape& shape, std::size_t item, std::byte* out) {
  std::vector<std::size_t> strides(shape.size(), 1), index(shape.size(), 0);
  for (std::size_t d = 1; d < shape.size(); ++d)
    strides[d] = strides[d - 1] * static_cast<std::size_t>(shape[d - 1]);
  std::size_t source = 0;
  for (std::size_t i = 0; i < data.size() / item; ++i) {
    std::memcpy(out + i * item, data.data() + source * item, item);
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < static_cast<std::size_t>(shape[d])) break;
      source -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

/// Turns big-endian elements into this machine's byte order.
void reverse_bytes(std::span<std::byte> bytes, std::size_t item) {
  for (auto at = bytes.begin(); at != bytes.end(); at += static_cast<std::ptrdiff_t>(item))
    std::reverse(at, at + static_cast<std::ptrdiff_t>(item));
}

/// The parts of a whole .npy file.
struct NpyContents {
  NpyHeader header;
  DType dtype;
  std::string_view data;
  bool is_reversed() const { return header.descr.starts_with('>') && size_of(dtype) > 1; }
};

NpyContents contents_of(std::string_view bytes, const std::string& path) {
  const auto [text, data] = split_header(bytes, path);
  NpyContents contents{HeaderParser(text, path).parse(), DType::float32, data};
  contents.dtype = dtype_of(contents.header.descr, path);
  check_length(contents.header, contents.dtype, data.size(), path);
  return contents;
}

/// The array in memory, in row-major order and this machine's byte order.
Array array_of(const NpyContents& contents) {
  const std::string_view data = contents.data;
  Array array(contents.dtype, contents.header.shape);
  if (data.empty()) return array;
  const std::size_t item = size_of(contents.dtype);
  const std::span bytes(array.mutable_bytes(), data.size());
  if (contents.header.fortran_order)
    copy_fortran(data, contents.header.shape, item, bytes.data());
  else
    std::memcpy(bytes.data(), data.data(), data.size());
  if (contents.is_reversed()) reverse_bytes(bytes, item);
  if (contents.dtype == DType::boolean)  // any other byte would be undefined behaviour as a bool
    for (std::byte& value : bytes) value = std::byte(value != std::byte{0});
  return array;
}

std::string header_text(const Array& array) {
  const auto* row = std::find_if(std::begin(descr_rows), std::end(descr_rows),
                                 [&](const DescrRow& one) { return one.dtype == array.dtype(); });
  MASE_CHECK(row != std::end(descr_rows), "element type without an .npy code");
  const char order = size_of(array.dtype()) == 1 ? '|' : '<';
  std::string shape;
  for (const std::int64_t size : array.shape()) shape += std::to_string(size) + ", ";
  if (array.shape().size() > 1) shape.resize(shape.size() - 2);
  if (array.shape().size() == 1) shape.resize(shape.size() - 1);
  std::string text = std::string("{'descr': '") + order + std::string(row->code) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const std::size_t used = magic.size() + 4 + text.size() + 1;
  text.append((64 - used % 64) % 64, ' ');  // the data starts at a multiple of 64 bytes
  return text + '\n';
}

}  // namespace

Array read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

std::map<std::string, Array> read_npz(const std::string& path) {
  const ZipReader archive = ZipReader::open_file(path);
  constexpr std::string_view ending = ".npy";
  std::map<std::string, Array> arrays;
  for (std::size_t i = 0; i < archive.entries().size(); ++i) {
    std::string name = archive.entries()[i].name;
    const std::string origin = path + ": " + name;
    if (!name.ends_with(ending)) file_error(origin + " is not an array; write it with numpy.savez");
    name.resize(name.size() - ending.size());
    if (!arrays.emplace(name, parse_npy(archive.read(i), origin)).second)
      file_error(origin + " occurs twice");
  }
  return arrays;
}

Array parse_npy(std::string_view bytes, const std::string& path) {
  return array_of(contents_of(bytes, path));
}

Array map_npy(const std::string& path) {
  const auto file = FileMap::open(path);
  if (!file) return read_npy(path);
  const NpyContents contents = contents_of(file->bytes(), path);
  const auto offset = static_cast<std::size_t>(contents.data.data() - file->bytes().data());
  const bool as_it_is = !contents.header.fortran_order && !contents.is_reversed() &&
                        contents.dtype != DType::boolean && !contents.data.empty() &&
                        offset % size_of(contents.dtype) == 0;
  if (as_it_is) return Array::mapped(contents.dtype, contents.header.shape, file, offset);
  try {
    return array_of(contents);
  } catch (const Error& error) {
    file_error("'" + path + "': " + error.what() +
               "; stored in row-major order (numpy.ascontiguousarray), it can stay in its file");
  }
}

namespace {

/// The bytes of an .npy file. bfloat16, which .npy does not have, is written as float32, which
/// keeps the values.
std::string npy_bytes(const Array& array) {
  if (array.dtype() == DType::bfloat16) return npy_bytes(array.to_float32());
  const std::string header = header_text(array);
  MASE_CHECK(header.size() <= 0xFFFF, "header too long for .npy version 1.0");
  std::string bytes(magic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(array.bytes()), array.byte_size());
  return bytes;
}

}  // namespace

void write_npy(const std::string& path, const Array& array) { write_file(path, npy_bytes(array)); }

void write_npz(const std::string& path, const std::vector<std::pair<std::string, Array>>& arrays) {
  std::vector<std::string> files;
  for (const auto& [name, array] : arrays) files.push_back(npy_bytes(array));
  ZipImage image;
  for (std::size_t i = 0; i < files.size(); ++i)
    image.add(arrays[i].first + ".npy", files[i], crc_of(files[i]));
  image.finish();
  std::string bytes(image.size(), '\0');
  image.read(0, bytes.data(), bytes.size());
  write_file(path, bytes);
}

}  // namespace mase
