// SPDX-License-Identifier: Apache-2.0
// Defined: turns the declaration of a format (a struct) into a definition that Format can hold, so
// that a new format is one struct in its own files and a line in format_table.cpp.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.hpp"

namespace mase::formats {

template <class T>
concept ChoosesRounding = requires(const T& format) {
  format.rounding;
};
/// A format whose two values may be chosen by chance.
template <class T>
concept ChoosesSigns = requires(const T& format) {
  format.stochastic;
};
template <class T>
concept HasSeed = requires(const T& format) {
  format.seed;
};

/// A format T is a struct with members, `static constexpr auto fields()`,
///   static constexpr FormatDoc doc{name, sentence, leading fields that the text form writes by
///                                  position};
/// and, if calibration may choose a field, `static constexpr std::string_view calibrated` (and
/// `calibrated_by_channel`, the field with a list of such values). It derives from Defined<T> and
/// overrides the functions that FormatDefinition leaves open.
template <class T>
class Defined : public FormatDefinition {
 public:
  const FormatDoc& declaration() const final { return T::doc; }
  Tree values() const final { return write_fields(self()); }
  Tree default_values() const final { return write_fields(T{}); }
  void read_values(const Tree& given, Diagnostics& diagnostics) final {
    read_fields(given, static_cast<T&>(*this), diagnostics);
  }
  bool clips_gradient() const final { return self().ste == "clip"; }
  bool is_stochastic() const final {
    if constexpr (ChoosesRounding<T>)
      return self().rounding == "stochastic";
    else if constexpr (ChoosesSigns<T>)
      return self().stochastic;
    else
      return false;
  }
  std::shared_ptr<const FormatDefinition> without_chance() const final {
    auto copy = std::make_shared<T>(self());
    if constexpr (ChoosesRounding<T>) copy->rounding = "nearest_even";
    if constexpr (ChoosesSigns<T>) copy->stochastic = false;
    if constexpr (HasSeed<T>) copy->seed = 0;
    return copy;
  }
  std::shared_ptr<const FormatDefinition> reseeded(std::uint64_t key) const final {
    auto copy = std::make_shared<T>(self());
    if constexpr (HasSeed<T>) copy->seed ^= static_cast<std::int64_t>(key >> 1);  // stays >= 0
    return copy;
  }
  /// Rows of a format with chance are the elements of a tensor as one dimension: the format of a
  /// part that begins at element `first` has the numbers of these elements.
  std::shared_ptr<const FormatDefinition> of_rows(std::int64_t first, std::int64_t) const override {
    if (!is_stochastic()) return nullptr;
    auto copy = std::make_shared<T>(self());
    if constexpr (HasSeed<T>) copy->first_number += static_cast<std::uint64_t>(first);
    return copy;
  }

 protected:
  const T& self() const { return static_cast<const T&>(*this); }
};

/// Reads, resolves and wraps a format; nullopt when it has added an error to `diagnostics`.
std::optional<Format> make_format(std::unique_ptr<FormatDefinition> format, const Tree& fields,
                                  Diagnostics& diagnostics);

/// The row of the format table for T.
template <class T>
FormatRow format_row() {
  std::string calibrated, by_channel;
  if constexpr (requires { T::calibrated; }) calibrated = T::calibrated;
  if constexpr (requires { T::calibrated_by_channel; }) by_channel = T::calibrated_by_channel;
  return {std::string(T::doc.name),
          std::string(T::doc.sentence),
          describe_fields<T>(),
          std::move(calibrated),
          std::move(by_channel),
          [](const Tree& fields, Diagnostics& diagnostics) {
            return make_format(std::make_unique<T>(), fields, diagnostics);
          }};
}

}  // namespace mase::formats
