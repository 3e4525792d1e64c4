// Format: one number format with its parameters, as a value that travels on a graph's edges.
//
// A format is declared once, as a struct with `doc`, `fields()` and the functions of FormatConcept
// (see formats/integer.hpp), and listed in one row of formats/format_table.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "base/field.hpp"

namespace mase::formats {

/// A quantized tensor as integers: what checkpoints store and hardware reads (formats.md, storage).
struct Encoded {
  std::vector<std::uint32_t> codes;   ///< one per element, in the low `code_bits` bits
  int code_bits = 0;                  ///< bits of one element code
  std::vector<std::uint32_t> shared;  ///< shared codes, one per block (block formats only)
  int shared_bits = 0;
  std::vector<float> scales;  ///< float32 scales (scaled formats only)
};

/// The representable range, for reports and saturation checks.
struct Range {
  double low = 0, high = 0;
};

class FormatBase {
 public:
  virtual ~FormatBase() = default;
  virtual std::string_view name() const = 0;
  virtual Tree fields() const = 0;
  virtual std::string text() const = 0;
  virtual double bits_per_element(const Shape& shape) const = 0;
  virtual Range range() const = 0;
  virtual void quantize(std::span<const float> in, std::span<float> out,
                        const Shape& shape) const = 0;
  virtual Encoded encode(std::span<const float> in, const Shape& shape) const = 0;
  virtual void decode(const Encoded& in, std::span<float> out, const Shape& shape) const = 0;
  virtual std::string torchscript(std::string_view variable) const = 0;
};

/// A format with its parameters. Cheap to copy; equal when the texts are equal.
class Format {
 public:
  explicit Format(std::shared_ptr<const FormatBase> impl) : impl_(std::move(impl)) {}

  std::string_view name() const { return impl_->name(); }
  /// Every parameter with its resolved value, as a dict.
  Tree fields() const { return impl_->fields(); }
  /// Canonical text that parse_format reads back: `integer(8, 4)`, further fields as key=value when
  /// they differ from the default: `integer(8, 4, is_signed=false)`.
  std::string text() const { return impl_->text(); }
  /// Average storage bits of one element of a tensor of this shape, shared bits included.
  double bits_per_element(const Shape& shape) const { return impl_->bits_per_element(shape); }
  Range range() const { return impl_->range(); }
  /// Fake quantization: out[i] is the value on the format's grid for in[i]. `in` and `out` have
  /// numel(shape) elements and may be the same memory.
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const {
    impl_->quantize(in, out, shape);
  }
  /// Integer codes. Error(Fault::file) naming the index for a NaN without a code.
  Encoded encode(std::span<const float> in, const Shape& shape) const {
    return impl_->encode(in, shape);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const {
    impl_->decode(in, out, shape);
  }
  /// TorchScript expression of stock operators that computes the same bits from a float32 tensor
  /// variable, for checkpoints that stock PyTorch opens. Never uses plain `torch.round`.
  std::string torchscript(std::string_view variable) const { return impl_->torchscript(variable); }

  bool operator==(const Format& other) const { return text() == other.text(); }

 private:
  std::shared_ptr<const FormatBase> impl_;
};

/// One row of the format table.
struct FormatRow {
  std::string name;
  std::string doc;
  std::vector<FieldInfo> fields;
  /// Builds the format from a dict of field values (unprefixed keys). Problems go to `diagnostics`,
  /// at each value's place, and give nullopt.
  std::optional<Format> (*make)(const Tree& fields, Diagnostics& diagnostics);
};

const std::vector<FormatRow>& format_table();
const FormatRow* find_format(std::string_view name);
std::vector<std::string> format_names();

/// Reads the text form; Error(Fault::config) naming the place when it is wrong.
Format parse_format(std::string_view text);

/// Packs codes of `bits` each, LSB first (element 0 in the low bits of byte 0), and back.
std::string pack_codes(std::span<const std::uint32_t> codes, int bits);
std::vector<std::uint32_t> unpack_codes(std::string_view bytes, int bits, std::size_t count);

}  // namespace mase::formats
