// SPDX-License-Identifier: Apache-2.0
// Module mase_row_reduce.
#pragma once

#include "hardware/design/modules/module.hpp"

namespace mase::design {

/// What a row is reduced to.
enum class RowResult { maximum, sum, peak };

/// The maximum or the sum of a row, or the greatest magnitude.
struct RowReduceModule {
  static constexpr std::string_view module_name = "mase_row_reduce";
  std::int64_t beats = 4, lanes = 1;
  int in_bits = 8;
  bool in_signed = true;
  int result = 0;  ///< RowResult
  int out_bits = 8;

  bool sums() const { return result == static_cast<int>(RowResult::sum); }

  static constexpr auto fields() {
    return std::tuple{
        Field{"N", &RowReduceModule::beats, "beats of a row"}.at_least(1),
        Field{"LANES", &RowReduceModule::lanes, "elements of a beat"}.at_least(1),
        Field{"IW", &RowReduceModule::in_bits, "bits of an element that comes"}.at_least(1),
        Field{"ISIGNED", &RowReduceModule::in_signed, "whether it has a sign"},
        Field{"OP", &RowReduceModule::result,
              "0: the maximum of a row, 1: its sum, 2: its greatest magnitude"}
            .between(0, 2),
        Field{"OW", &RowReduceModule::out_bits, "bits of the result"}.at_least(1)};
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const;
  Cost cost(const Design& design) const;
  Paths paths(const Technology& technology) const;
  static ModuleRow row();
  static StepRow step();
};

}  // namespace mase::design
