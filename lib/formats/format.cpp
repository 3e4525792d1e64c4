// SPDX-License-Identifier: Apache-2.0
// Common functions of all formats: reading, the text form, and checks of calls.
#include "formats/format.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "formats/definition.hpp"
#include "formats/format_text.hpp"

namespace mase::formats {

void FormatDefinition::saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                                 const Shape&) const {
  // A float32 number is beyond a limit when it is beyond the last float32 number within.
  const Range limits = range();
  const float infinity = std::numeric_limits<float>::infinity();
  float low = static_cast<float>(limits.low), high = static_cast<float>(limits.high);
  if (static_cast<double>(low) < limits.low) low = std::nextafter(low, infinity);
  if (static_cast<double>(high) > limits.high) high = std::nextafter(high, -infinity);
  for (std::size_t i = 0; i < in.size(); ++i)
    mask[i] =
        static_cast<std::uint8_t>(static_cast<int>(in[i] < low) | static_cast<int>(in[i] > high));
}

std::string Format::text() const {
  const FormatDoc& doc = definition_->declaration();
  return format_text(doc.name, doc.positional, fields(), definition_->default_values());
}

std::string Format::short_text() const {
  const FormatDoc& doc = definition_->declaration();
  return format_text(doc.name, doc.positional, fields(), definition_->default_values(), true);
}

void Format::check_call(const Shape& shape, std::size_t count, std::size_t other_count) const {
  const auto wanted = static_cast<std::size_t>(numel(shape));
  MASE_CHECK(count == wanted && other_count == wanted,
             "format " + std::string(name()) + ": span and shape differ in size");
  check(shape);
}

void Format::quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const {
  check_call(shape, in.size(), out.size());
  definition_->quantize(in, out, shape);
}

Encoded Format::encode(std::span<const float> in, const Shape& shape) const {
  check_call(shape, in.size(), in.size());
  return definition_->encode(in, shape);
}

void Format::decode(const Encoded& in, std::span<float> out, const Shape& shape) const {
  check_call(shape, out.size(), out.size());
  definition_->decode(in, out, shape);
}

void Format::saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                       const Shape& shape) const {
  check_call(shape, in.size(), mask.size());
  definition_->saturates(in, mask, shape);
}

Format Format::of_rows(std::int64_t first, std::int64_t count) const {
  auto rows = definition_->of_rows(first, count);
  return rows ? Format(std::move(rows)) : *this;
}

std::optional<Format> Format::of_peak(float largest) const {
  auto given = definition_->of_peak(largest);
  return given ? std::optional(Format(std::move(given))) : std::nullopt;
}

Format Format::deterministic() const {
  return is_stochastic() ? Format(definition_->without_chance()) : *this;
}

Format Format::reseeded(std::uint64_t key) const {
  return is_stochastic() ? Format(definition_->reseeded(key)) : *this;
}

std::optional<Format> make_format(std::unique_ptr<FormatDefinition> format, const Tree& fields,
                                  Diagnostics& diagnostics) {
  Diagnostics own;
  format->read_values(fields, own);
  if (!own.has_errors()) format->resolve(fields, own);
  for (const Diagnostic& found : own.all()) {
    if (found.severity == Severity::error)
      diagnostics.error(found.where, found.message);
    else
      diagnostics.warning(found.where, found.message);
  }
  if (own.has_errors()) return std::nullopt;
  return Format(std::move(format));
}

}  // namespace mase::formats
