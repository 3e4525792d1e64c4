// SPDX-License-Identifier: Apache-2.0
// Hardware of the operations without matrices: element by element, joining and cutting.
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "hardware/design/modules/argmax.hpp"
#include "hardware/design/modules/binary.hpp"
#include "hardware/design/modules/cast.hpp"
#include "hardware/design/modules/channel_shift.hpp"
#include "hardware/design/modules/concat.hpp"
#include "hardware/design/modules/divide.hpp"
#include "hardware/design/modules/embedding.hpp"
#include "hardware/design/modules/gather.hpp"
#include "hardware/design/modules/insert.hpp"
#include "hardware/design/modules/lookup.hpp"
#include "hardware/design/modules/piecewise.hpp"
#include "hardware/design/modules/pool.hpp"
#include "hardware/design/modules/repeat.hpp"
#include "hardware/design/modules/row_reduce.hpp"
#include "hardware/design/modules/scale_shift.hpp"
#include "hardware/design/modules/slice.hpp"
#include "hardware/design/modules/square_root.hpp"
#include "hardware/design/numbers.hpp"
#include "hardware/design/step_table.hpp"
#include "ir/custom_op.hpp"

namespace mase::design {
namespace {

using integer::FixedType;

// Modules of the user's.

const ir::CustomHardware& hardware_of(const Step& step) {
  return *std::get<integer::Lookup>(step.operation).external;
}

/// As many lanes as the module has, at most.
FoldRule external_rule(const Program& program, const Step& step, const Fold&) {
  const std::int64_t elements = program.value(step.output).elements();
  std::int64_t most = 1;
  for (const std::int64_t lanes : divisors(elements))
    if (lanes <= hardware_of(step).lanes) most = lanes;
  return same_lanes(most);
}

std::int64_t external_interval(const Program& program, const Step& step, const Fold& fold) {
  return output_interval(program, step, fold) * hardware_of(step).interval;
}

/// What a word of a module's `parameters` stands for.
std::int64_t value_of(const StepBuilder& builder, const std::string& word) {
  const FixedType &in = builder.input().type, &out = builder.output().type;
  const std::map<std::string, std::int64_t> values{
      {"lanes", builder.fold.in_lanes},    {"in_width", in.width},
      {"in_signed", flag(in.is_signed)},   {"out_width", out.width},
      {"out_signed", flag(out.is_signed)}, {"channels", builder.output().channels()}};
  return values.at(word);
}

StreamId add_external(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const ir::CustomHardware& hardware = hardware_of(builder.step);
  ModuleParameters parameters;
  for (const auto& [name, value] : hardware.parameters) {
    const auto* word = std::get_if<std::string>(&value);
    parameters.set(name, word ? value_of(builder, *word) : std::get<std::int64_t>(value));
  }
  return builder.finish(external_module(hardware), std::move(parameters), inputs,
                        builder.fold.in_lanes);
}

}  // namespace

std::vector<StepRow> stream_rows() {
  return {
      CastModule::step(),
      LookupModule::step(),
      PiecewiseModule::step(),
      {"external", external_rule, fold_lanes, external_interval, nullptr, add_external},
      BinaryModule::step(),
      DivideModule::step(),
      SquareRootModule::step(),
      ScaleShiftModule::step(),
      ChannelShiftModule::step(),
      PoolModule::step(),
      ConcatModule::step(),
      EmbeddingModule::step(),
      InsertModule::step(),
      SliceModule::step(),
      ArgmaxModule::step(),
      RowReduceModule::step(),
      RepeatModule::step(),
      GatherModule::step(),
  };
}

}  // namespace mase::design
