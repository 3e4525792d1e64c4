// SPDX-License-Identifier: Apache-2.0
// Module mase_slice.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// Passes `count` of every `beats` beats, from `first` on.
struct SliceModule {
  static constexpr std::string_view module_name = "mase_slice";
  std::int64_t width = 8, beats = 4, first = 1, count = 2;

  static constexpr auto fields() {
    return std::tuple{
        Field{"W", &SliceModule::width, "bits of a beat"}.at_least(1),
        Field{"BEATS", &SliceModule::beats, "beats of a row"}.at_least(1),
        Field{"FIRST", &SliceModule::first, "the first beat of a row that passes"}.at_least(0),
        Field{"COUNT", &SliceModule::count, "beats of a row that pass"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
