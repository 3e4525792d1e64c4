// Model: turns the declaration of a format (a struct) into a Format value, so that a new format is
// one struct in one file and one row in format_table.cpp.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "formats/format.hpp"
#include "formats/format_text.hpp"

namespace mase::formats {

/// Name, sentence, and how many leading fields the text form writes by position.
struct FormatDoc {
  std::string_view name;
  std::string_view sentence;
  int positional = 0;
};

/// What a format declares. `resolve` fills in fields that depend on others and reports combinations
/// that do not exist; `given` is the dict it was read from, for places. The other functions are
/// called on resolved values only, with spans of numel(shape) elements.
template <class T>
concept FormatConcept = Reflected<T> && std::default_initializable<T> &&
    requires(T format, const T& fixed, const Tree& given, Diagnostics& diagnostics,
             const Shape& shape, std::span<const float> in, std::span<float> out,
             const Encoded& encoded) {
  { T::doc } -> std::convertible_to<FormatDoc>;
  format.resolve(given, diagnostics);
  { fixed.bits_per_element(shape) } -> std::convertible_to<double>;
  { fixed.range() } -> std::same_as<Range>;
  fixed.quantize(in, out, shape);
  { fixed.encode(in, shape) } -> std::same_as<Encoded>;
  fixed.decode(encoded, out, shape);
  { fixed.torchscript(int{}) } -> std::same_as<std::string>;
};

/// Formats may declare `void check(const Shape&) const` (shapes that they refuse) and
/// `void saturates(in, mask, shape) const` (where it is not simply beyond `range()`).
template <class T>
concept ChecksShape = requires(const T& format, const Shape& shape) {
  format.check(shape);
};
template <class T>
concept KnowsSaturation = requires(const T& format, std::span<const float> in,
                                   std::span<std::uint8_t> mask, const Shape& shape) {
  format.saturates(in, mask, shape);
};
/// The name of the field that calibration may choose.
template <class T>
concept IsCalibrated = requires {
  std::string_view(T::calibrated);
};

/// The type-erased form of a declared format, with checks that all formats need.
template <FormatConcept T>
class Model final : public FormatBase {
 public:
  explicit Model(T format) : format_(std::move(format)) {}

  std::string_view name() const override { return T::doc.name; }
  Tree fields() const override { return write_fields(format_); }
  std::string text() const override {
    return format_text(T::doc.name, T::doc.positional, fields(), write_fields(T{}));
  }
  double bits_per_element(const Shape& shape) const override {
    return format_.bits_per_element(shape);
  }
  Range range() const override { return format_.range(); }
  void quantize(std::span<const float> in, std::span<float> out,
                const Shape& shape) const override {
    check_size(in.size(), shape);
    check_size(out.size(), shape);
    check(shape);
    format_.quantize(in, out, shape);
  }
  Encoded encode(std::span<const float> in, const Shape& shape) const override {
    check_size(in.size(), shape);
    check(shape);
    return format_.encode(in, shape);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override {
    check_size(out.size(), shape);
    check(shape);
    format_.decode(in, out, shape);
  }
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override {
    check_size(in.size(), shape);
    check_size(mask.size(), shape);
    if constexpr (KnowsSaturation<T>) {
      check(shape);
      format_.saturates(in, mask, shape);
    } else {
      const Range range = format_.range();
      for (std::size_t i = 0; i < in.size(); ++i) mask[i] = in[i] < range.low || in[i] > range.high;
    }
  }
  bool clips_gradient() const override { return format_.ste == "clip"; }
  void check(const Shape& shape) const override {
    if constexpr (ChecksShape<T>) format_.check(shape);
  }
  std::string torchscript(int rank) const override { return format_.torchscript(rank); }

 private:
  static void check_size(std::size_t count, const Shape& shape) {
    MASE_CHECK(static_cast<std::int64_t>(count) == numel(shape),
               "format " + std::string(T::doc.name) + ": span and shape differ in size");
  }

  T format_;
};

/// Reads, resolves and wraps a format; nullopt when that added an error to `diagnostics`.
template <FormatConcept T>
std::optional<Format> make_format(const Tree& fields, Diagnostics& diagnostics) {
  Diagnostics own;
  T format;
  read_fields(fields, format, own);
  if (!own.has_errors()) format.resolve(fields, own);
  for (const Diagnostic& found : own.all()) {
    if (found.severity == Severity::error)
      diagnostics.error(found.where, found.message);
    else
      diagnostics.warning(found.where, found.message);
  }
  if (own.has_errors()) return std::nullopt;
  return Format(std::make_shared<const Model<T>>(std::move(format)));
}

/// The table's row of a declared format.
template <FormatConcept T>
FormatRow format_row() {
  std::string calibrated;
  if constexpr (IsCalibrated<T>) calibrated = T::calibrated;
  return {std::string(T::doc.name), std::string(T::doc.sentence), describe_fields<T>(),
          std::move(calibrated), &make_format<T>};
}

}  // namespace mase::formats
