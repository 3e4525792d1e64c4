// SPDX-License-Identifier: Apache-2.0
// Module mase_cumulative_sum: for each lane an adder and a rounding stage, and a memory of the sums
// so far.
#pragma once

#include <array>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/modules/requantisation.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {

/// Running sums along a dimension.
struct CumulativeSumModule : Requantisation {
  static constexpr std::string_view module_name = "mase_cumulative_sum";
  std::int64_t positions = 4, beats = 1, lanes = 1;
  int in_bits = 8;
  bool in_signed = true;
  int sum_bits = 10;

  static constexpr auto fields() {
    using Module = CumulativeSumModule;
    return std::tuple_cat(
        std::tuple{Field{"N", &Module::positions, "positions of the dimension"}.at_least(1),
                   Field{"BEATS", &Module::beats, "beats of a position"}.at_least(1),
                   Field{"LANES", &Module::lanes, "elements of a beat"}.at_least(1),
                   Field{"IW", &Module::in_bits, "bits of an element that comes"}.at_least(1),
                   Field{"ISIGNED", &Module::in_signed, "whether it has a sign"},
                   Field{"ACCW", &Module::sum_bits, "bits of a sum, which has a sign"}.at_least(1)},
        Requantisation::fields());
  }

  std::unique_ptr<Handshake> handshake(Stages kept) const {
    return std::make_unique<PipeHandshake>(2, kept);
  }

  Cost cost(const Design&) const {
    Cost lane = adder_cost(sum_bits);
    lane.lut += sum_bits;  // zero instead of the sum so far
    lane += requantise_stage_cost(*this, {sum_bits});
    lane.ff += sum_bits;
    Cost cost = output_cost(lanes * out_bits, 2);
    cost += scaled(lane, static_cast<double>(lanes));
    cost += counters_cost(std::array{positions, beats});
    cost.ff += 1;
    if (beats == 1) return cost;
    cost += lut_memory_cost(lanes * sum_bits, beats);
    cost.ff += static_cast<double>(lanes * sum_bits + log2_ceiling(beats));
    return cost;
  }

  Paths paths(const Technology& technology) const {
    const Path sum{.what = "sum",
                   .luts = 1,
                   .chains = 1,
                   .carry = static_cast<double>(sum_bits),
                   .readers = static_cast<double>(lanes * sum_bits)};
    Paths paths{sum, rounding_path(*this, {sum_bits}, technology),
                counter_path(positions, technology)};
    if (beats > 1) paths.push_back(memory_path(lanes * sum_bits, beats, false, technology));
    return paths;
  }

  static std::vector<Measured<CumulativeSumModule>> measured() {
    const auto to = [](int bits, int shift, std::int64_t low, std::int64_t high) {
      return Requantisation{.out_bits = bits, .shift = shift, .low = {low, 64}, .high = {high, 64}};
    };
    return {{{to(8, 3, -128, 127), 8, 1, 1, 8, true, 12}, 43 + 7},
            {{to(8, 4, -128, 127), 16, 4, 4, 8, true, 13}, 196 + 29},
            {{to(12, 0, -2048, 2047), 28, 100, 1, 6, true, 12}, 103 + 7},
            {{to(10, 2, -512, 511), 12, 48, 16, 8, true, 13}, 922 + 131},
            {{to(8, 6, -128, 127), 512, 1, 8, 8, true, 18}, 399 + 75},
            {{to(8, 0, -100, 100), 7, 3, 5, 8, true, 12}, 211 + 51}};
  }

  static ModuleRow row() {
    return row_of_module<CumulativeSumModule>({.folder = "window",
                                               .doc = "running sums along a dimension",
                                               .uses = {"mase_requantise_stage", "mase_skid"},
                                               .inputs = {"in"},
                                               .outputs = {"out"}});
  }

  static StepRow step() {
    return {"cumulative_sum", fold_rule, fold_lanes, output_interval, nullptr, add};
  }

 private:
  static const integer::CumulativeSum& step_of(const Step& step) {
    return std::get<integer::CumulativeSum>(step.operation);
  }

  /// Lanes never meet: a beat belongs to one position.
  static FoldRule fold_rule(const Program&, const Step& step, const Fold&) {
    return same_lanes(step_of(step).inner);
  }

  static StreamId add(StepBuilder& builder, const std::vector<StreamId>& inputs) {
    const integer::CumulativeSum& sum = step_of(builder.step);
    const integer::FixedType& in = builder.input().type;
    const std::int64_t lanes = builder.fold.in_lanes;
    const CumulativeSumModule module{requantisation_of(builder),
                                     sum.size,
                                     sum.inner / lanes,
                                     lanes,
                                     in.width,
                                     in.is_signed,
                                     static_cast<int>(accumulator_width(builder.step))};
    return builder.finish(module, inputs, lanes);
  }
};

}  // namespace mase::design
