// SPDX-License-Identifier: Apache-2.0
// The fields that number formats share: profile, rounding, seed and gradient.
#pragma once

#include <cstdint>
#include <string>

#include "base/diagnostics.hpp"
#include "base/field.hpp"
#include "formats/seed.hpp"

namespace mase::formats {

/// The common fields of formats whose rounding is fixed.
struct ProfileFields {
  std::string profile = "exact";
  std::string ste = "identity";

  static constexpr auto profile_fields() {
    return std::tuple{
        Field{"profile", &ProfileFields::profile,
              "exact arithmetic, or the reference system's float32 bits"}
            .one_of("exact", "reference")
            .renamed("mase", "reference"),
        Field{"ste", &ProfileFields::ste,
              "straight-through gradient: identity everywhere, or 0 where the value saturates"}
            .one_of("identity", "clip")};
  }
  Profile profile_value() const { return profile_of(profile); }
};

/// The common fields of formats with a choice of rounding; their `fields()` end with these.
struct CommonFields : ProfileFields {
  std::string rounding = "nearest_even";
  std::int64_t seed = 0;
  std::uint64_t first_number = 0;  ///< no field: where the tensor's random numbers begin

  static constexpr auto common_fields() {
    return std::tuple_cat(
        std::tuple{
            Field{"rounding", &CommonFields::rounding, "how values between two codes are rounded"}
                .one_of("nearest_even", "floor", "nearest_away", "stochastic")},
        profile_fields(),
        std::tuple{Field{"seed", &CommonFields::seed, "key of stochastic rounding"}.at_least(0)});
  }
  Rounding rounding_value() const { return rounding_of(rounding); }
  Seed seed_value() const { return {static_cast<std::uint64_t>(seed), first_number}; }
  /// Reports combinations that do not exist. With `floor_in_reference`, profile `reference` has the
  /// rounding `floor`, too.
  void check_common(const Tree& given, bool floor_in_reference, Diagnostics& diagnostics) const;
};

/// The place of a key of `given`; without the key, the place of `given` itself.
SourceLocation place_of(const Tree& given, std::string_view key);

}  // namespace mase::formats
