// SPDX-License-Identifier: Apache-2.0
// Format: one number format with its parameters, as a value that travels on a graph's edges.
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

namespace mase::formats {

/// A quantized tensor as integers: what checkpoints store and hardware reads (formats.md, storage).
struct Encoded {
  PackedCodes codes;          ///< one per element
  PackedCodes shared;         ///< shared codes, one per block (block formats only)
  std::vector<float> scales;  ///< float32 scales (scaled formats only)
};

/// The representable range, for reports and saturation checks.
struct Range {
  double low = 0, high = 0;
};

/// Name, sentence, and how many leading fields the text form writes by position.
struct FormatDoc {
  std::string_view name;
  std::string_view sentence;
  int positional = 0;
};

/// What a format is, and what it defines itself. Format calls it with spans of numel(shape)
/// elements and shapes that pass `check`, on resolved values.
class FormatDefinition {
 public:
  virtual ~FormatDefinition() = default;

  // From the format's declaration, by Defined.
  virtual const FormatDoc& declaration() const = 0;
  virtual Tree values() const = 0;
  virtual Tree default_values() const = 0;
  virtual void read_values(const Tree& given, Diagnostics& diagnostics) = 0;
  virtual bool clips_gradient() const = 0;
  virtual bool is_stochastic() const = 0;
  /// Copies of a stochastic format: without chance, and with other random numbers.
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
  /// What is not overridden has one grid for a tensor.
  virtual bool per_channel() const { return false; }
  /// What is not overridden has none.
  virtual std::optional<Decoding> decoding(const Shape&) const { return std::nullopt; }
  /// What is not overridden is beyond range().
  virtual void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                         const Shape& shape) const;
  /// What is not overridden accepts every shape.
  virtual void check(const Shape&) const {}

 protected:
  FormatDefinition() = default;
  FormatDefinition(const FormatDefinition&) = default;
  FormatDefinition& operator=(const FormatDefinition&) = default;
};

/// A format with its parameters. Cheap to copy; equal when the texts are equal.
class Format {
 public:
  explicit Format(std::shared_ptr<const FormatDefinition> definition)
      : definition_(std::move(definition)) {}

  std::string_view name() const { return definition_->declaration().name; }
  /// Every parameter with its resolved value, as a dict.
  Tree fields() const { return definition_->values(); }
  /// Canonical text that parse_format reads back: `integer(8, 4)`, further fields as key=value when
  /// they differ from the default: `integer(8, 4, is_signed=false)`.
  std::string text() const;
  /// The same for people to read: long lists are cut.
  std::string short_text() const;
  /// Whether every channel (index of dimension 0) has the calibrated field's value of its own, so
  /// that only tensors with these channels, parameters, can have the format.
  bool per_channel() const { return definition_->per_channel(); }
  /// Average storage bits of one element of a tensor of this shape, shared bits included.
  double bits_per_element(const Shape& shape) const { return definition_->bits_per_element(shape); }
  Range range() const { return definition_->range(); }
  /// Fake quantization: out[i] is the value on the format's grid for in[i]. `in` and `out` have
  /// numel(shape) elements and may be the same memory.
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const;
  /// Integer codes. Error(Fault::file) naming the index for a NaN without a code.
  Encoded encode(std::span<const float> in, const Shape& shape) const;
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const;
  /// mask[i] = 1 where in[i] lies beyond what the format can represent (given the block's or row's
  /// scale), so that it saturates; else 0, also for NaN.
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask, const Shape& shape) const;
  /// Whether saturated elements get no gradient (`ste = "clip"`) instead of the identity's.
  bool clips_gradient() const { return definition_->clips_gradient(); }
  /// Whether `quantize` and `encode` round by random numbers, a function of seed and element.
  bool is_stochastic() const { return definition_->is_stochastic(); }
  /// What takes the place of a stochastic format wherever a network is not being trained:
  /// nearest_even, and signs for binary values (formats.md, "Stochastic rounding of networks"). Any
  /// other format is its own.
  Format deterministic() const;
  /// A stochastic format with its seed combined with `key`; any other format as it is.
  Format reseeded(std::uint64_t key) const;
  /// Error(Fault::config) when tensors of this shape cannot have the format; the other functions
  /// call it.
  void check(const Shape& shape) const { definition_->check(shape); }
  /// Body of a TorchScript function of the float32 tensor `x` of this rank, whose dimensions may
  /// have any size, that gives `quantize`'s bits: lines indented by two spaces, of stock operators,
  /// only the last one a `return`. Names `q`, `qs`, `xs` and `training` are the caller's. Never
  /// uses plain `torch.round`. Error(Fault::unsupported) where there is no such text (stochastic
  /// rounding).
  std::string torchscript(int rank) const { return definition_->torchscript(rank); }

  /// How `decode` computes the values of a tensor of this shape; nullopt where that is no table and
  /// no product (integers wider than float64, what profile `reference` leaves off the grid).
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
  /// empty when everything follows from the tensor itself.
  std::string calibrated;
  /// The list with a value of that field for every channel, of formats that are per_channel(); else
  /// empty.
  std::string calibrated_by_channel;
  /// Builds the format from a dict of field values (unprefixed keys). Problems go to `diagnostics`,
  /// at each value's place, and give nullopt.
  std::optional<Format> (*make)(const Tree& fields, Diagnostics& diagnostics);
};

/// The format of a row of the table with fields that it is known to take; an internal error where
/// it does not.
Format format_of(std::string_view name, const Tree& fields);

const std::vector<FormatRow>& format_table();
const FormatRow* find_format(std::string_view name);
std::vector<std::string> format_names();

/// The text form taken apart: a format of the table, and the fields that the text gives.
struct FormatFields {
  const FormatRow* row = nullptr;
  Tree fields;
};
/// Error(Fault::config) naming the column when the text is no format; values are not looked at.
FormatFields read_format(std::string_view text);

/// Reads the text form; Error(Fault::config) naming the place when it is wrong.
Format parse_format(std::string_view text);

}  // namespace mase::formats
