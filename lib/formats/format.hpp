// SPDX-License-Identifier: Apache-2.0
// Format: a number format with its parameters, as a value on the edges of a graph.
//
// A format is declared once, as a struct with `doc`, `fields()` and the functions of
// FormatDefinition (see formats/fixed/integer.hpp), and listed in formats/format_table.cpp.
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
#include "formats/codes.hpp"
#include "formats/decoding.hpp"
#include "formats/device_span.hpp"

namespace mase::formats {

/// A quantized tensor as integers, which checkpoints store and hardware uses (formats.md, storage).
struct Encoded {
  PackedCodes codes;          ///< codes, one per element
  PackedCodes shared;         ///< shared codes, one per block (block formats only)
  std::vector<float> scales;  ///< float32 scales (scaled formats only)
};

/// The representable range, for reports and saturation checks.
struct Range {
  double low = 0, high = 0;
};

/// The name of a format, a sentence, and how many leading fields its text form writes by position.
struct FormatDoc {
  std::string_view name;
  std::string_view sentence;
  int positional = 0;
};

/// The declaration of a format, and the functions that it defines. Format calls them on resolved
/// values, with spans of numel(shape) elements and shapes that pass `check`.
class FormatDefinition {
 public:
  virtual ~FormatDefinition() = default;

  // Defined implements these from the format's declaration.
  virtual const FormatDoc& declaration() const = 0;
  virtual Tree values() const = 0;
  virtual Tree default_values() const = 0;
  virtual void read_values(const Tree& given, Diagnostics& diagnostics) = 0;
  virtual bool clips_gradient() const = 0;
  virtual bool is_stochastic() const = 0;
  /// Copies of a stochastic format: one without chance, and one with other random numbers.
  virtual std::shared_ptr<const FormatDefinition> without_chance() const = 0;
  virtual std::shared_ptr<const FormatDefinition> reseeded(std::uint64_t key) const = 0;

  /// Fills in fields that depend on others and reports combinations that do not exist; `given` is
  /// the dict that the fields were read from, for places.
  virtual void resolve(const Tree& given, Diagnostics& diagnostics) = 0;
  virtual double bits_per_element(const Shape& shape) const = 0;
  virtual Range range() const = 0;
  virtual void quantize(std::span<const float> in, std::span<float> out,
                        const Shape& shape) const = 0;
  virtual Encoded encode(std::span<const float> in, const Shape& shape) const = 0;
  virtual void decode(const Encoded& in, std::span<float> out, const Shape& shape) const = 0;
  virtual std::string torchscript(int rank) const = 0;
  /// By default, a tensor has a single grid.
  virtual bool per_channel() const { return false; }
  /// By default, a tensor is treated as a whole.
  virtual std::int64_t rows_together(const Shape& shape) const {
    return shape.empty() ? 0 : shape.front();
  }
  /// By default, all rows have the same parameters.
  virtual std::shared_ptr<const FormatDefinition> of_rows(std::int64_t, std::int64_t) const {
    return nullptr;
  }
  /// By default, no parameter follows from the whole tensor.
  virtual std::shared_ptr<const FormatDefinition> of_peak(float) const { return nullptr; }
  /// By default, there is no kernel for a GPU.
  virtual DeviceQuantizer device_quantizer(const Shape&) const { return nullptr; }
  /// By default, there is no decoding.
  virtual std::optional<Decoding> decoding(const Shape&) const { return std::nullopt; }
  /// By default, values beyond range() saturate.
  virtual void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                         const Shape& shape) const;
  /// By default, every shape is accepted.
  virtual void check(const Shape&) const {}

 protected:
  FormatDefinition() = default;
  FormatDefinition(const FormatDefinition&) = default;
  FormatDefinition& operator=(const FormatDefinition&) = default;
};

/// A format with its parameters. It is cheap to copy; formats are equal when their texts are equal.
class Format {
 public:
  explicit Format(std::shared_ptr<const FormatDefinition> definition)
      : definition_(std::move(definition)) {}

  std::string_view name() const { return definition_->declaration().name; }
  /// All parameters with their resolved values, as a dict.
  Tree fields() const { return definition_->values(); }
  /// The canonical text, which parse_format reads back: `integer(8, 4)`. Further fields appear as
  /// key=value when they differ from the default: `integer(8, 4, is_signed=false)`.
  std::string text() const;
  /// The same text for people, with long lists cut.
  std::string short_text() const;
  /// True when every channel (index of dimension 0) has its own value of the calibrated field, so
  /// that only parameters with these channels can have the format.
  bool per_channel() const { return definition_->per_channel(); }
  /// The average storage bits per element of a tensor of this shape, including shared bits.
  double bits_per_element(const Shape& shape) const { return definition_->bits_per_element(shape); }
  Range range() const { return definition_->range(); }
  /// Fake quantization: out[i] is the value on the format's grid for in[i]. `in` and `out` have
  /// numel(shape) elements and may be the same memory.
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const;
  /// The same by a kernel for tensors in a GPU's memory (device_kernels.hpp); null without one.
  DeviceQuantizer device_quantizer(const Shape& shape) const {
    return definition_->device_quantizer(shape);
  }
  /// Integer codes. Error(Fault::file) names the index of a NaN for which there is no code.
  Encoded encode(std::span<const float> in, const Shape& shape) const;
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const;
  /// mask[i] = 1 when in[i] lies beyond what the format can represent (given the block's or row's
  /// scale), so that it saturates; otherwise 0, also for NaN.
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask, const Shape& shape) const;
  /// True when saturated elements get no gradient (`ste = "clip"`) instead of that of the identity.
  bool clips_gradient() const { return definition_->clips_gradient(); }
  /// True when `quantize` and `encode` round by random numbers, a function of seed and element.
  bool is_stochastic() const { return definition_->is_stochastic(); }
  /// The format that replaces a stochastic one wherever a network is not being trained:
  /// nearest_even, and signs for binary values (formats.md, "Stochastic rounding of networks"). For
  /// any other format, the format itself.
  Format deterministic() const;
  /// A stochastic format with its seed combined with `key`; any other format unchanged.
  Format reseeded(std::uint64_t key) const;
  /// Error(Fault::config) when tensors of this shape cannot have the format; the other functions
  /// call it.
  void check(const Shape& shape) const { definition_->check(shape); }
  /// The body of a TorchScript function of the float32 tensor `x` of this rank, with dimensions of
  /// any size, that gives the bits of `quantize`: lines indented by two spaces, with stock
  /// operators only, and a `return` only in the last line. It leaves the names `q`, `qs`, `xs` and
  /// `training` to the caller and never uses plain `torch.round`. Error(Fault::unsupported) when
  /// there is no such text (stochastic rounding).
  std::string torchscript(int rank) const { return definition_->torchscript(rank); }

  /// How many rows (indices of dimension 0) of a tensor of this shape belong together, counted from
  /// row 0: whole groups of so many rows, as a tensor of their own, have the values, codes and
  /// saturation in of_rows() that they have in the tensor. 0: any elements in a row do so, as a
  /// tensor of one dimension. This holds for formats without chance.
  std::int64_t rows_together(const Shape& shape) const { return definition_->rows_together(shape); }
  /// The format of rows that are a tensor of their own.
  Format of_rows(std::int64_t first, std::int64_t count) const;
  /// The format with the parameter that follows from a tensor's largest finite magnitude; nullopt
  /// if nothing follows from it. Codes and values are those of this format in such a tensor.
  std::optional<Format> of_peak(float largest) const;

  /// How `decode` computes the values of a tensor of this shape: by a table or by a product.
  /// nullopt if neither does (integers wider than float64, values off the grid in `reference`).
  std::optional<Decoding> decoding(const Shape& shape) const {
    return definition_->decoding(shape);
  }

  bool operator==(const Format& other) const { return text() == other.text(); }

 private:
  void check_call(const Shape& shape, std::size_t count, std::size_t other_count) const;

  std::shared_ptr<const FormatDefinition> definition_;
};

/// One row of the format table.
struct FormatRow {
  std::string name;
  std::string doc;
  std::vector<FieldInfo> fields;
  /// The field that calibration may choose from data ("frac_width", "exponent_bias", "scale_rule");
  /// empty when the tensor itself determines everything.
  std::string calibrated;
  /// The field with a list of such values, one per channel, for formats that can be per_channel();
  /// otherwise empty.
  std::string calibrated_by_channel;
  /// Builds the format from a dict of field values (unprefixed keys). On problems, it adds them to
  /// `diagnostics` at the places of the values, and returns nullopt.
  std::optional<Format> (*make)(const Tree& fields, Diagnostics& diagnostics);
};

/// The format of a row of the table with fields that are known to be valid; an internal error when
/// they are not.
Format format_of(std::string_view name, const Tree& fields);

const std::vector<FormatRow>& format_table();
const FormatRow* find_format(std::string_view name);
std::vector<std::string> format_names();

/// The parts of the text form: a format of the table, and the fields that the text gives.
struct FormatFields {
  const FormatRow* row = nullptr;
  Tree fields;
};
/// Error(Fault::config) names the column when the text is not a format; values are not checked.
FormatFields read_format(std::string_view text);

/// Reads the text form; Error(Fault::config) names the place of a mistake.
Format parse_format(std::string_view text);

}  // namespace mase::formats
