// SPDX-License-Identifier: Apache-2.0
// Hardware of the operations without matrices: element by element, pooling, joining and cutting.
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

// Pooling: on the fly where windows do not overlap, else behind a window.

const integer::Pool& pool_of(const Step& step) { return std::get<integer::Pool>(step.operation); }

bool on_the_fly(const integer::Window& window) { return window.y.tiles() && window.x.tiles(); }

FoldRule pool_rule(const Program&, const Step& step, const Fold&) {
  return same_lanes(pool_of(step).window.channels);
}

std::int64_t pool_interval(const Program&, const Step& step, const Fold& fold) {
  const integer::Window& window = pool_of(step).window;
  const std::int64_t blocks = window.channels / fold.in_lanes;
  if (on_the_fly(window)) return blocks * window.pixels();
  return blocks * std::max(window.pixels(), window.places() * window.kernel());
}

bool pool_bursts(const Program&, const Step& step, const Fold&) {
  return !on_the_fly(pool_of(step).window);
}

StreamId add_pool(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::Pool& pool = pool_of(builder.step);
  const integer::Window& window = pool.window;
  const FixedType& in = builder.input().type;
  const std::int64_t lanes = builder.fold.in_lanes, blocks = window.channels / lanes;
  const bool maximum = pool.kind == integer::PoolKind::max;
  const bool direct = on_the_fly(window);
  ModuleParameters parameters = direct ? ModuleParameters{{"H", window.y.size},
                                                          {"W", window.x.size},
                                                          {"CF", blocks},
                                                          {"KH", window.y.kernel},
                                                          {"KW", window.x.kernel}}
                                       : ModuleParameters{{"N", window.kernel()}};
  parameters.append({{"LANES", lanes},
                     {"IW", std::int64_t{in.width}},
                     {"ISIGNED", flag(in.is_signed)},
                     {"OP", flag(!maximum)},
                     {"ACCW", accumulator_width(builder.step)}});
  parameters.append(requantiser(builder));
  const StreamId stream =
      direct ? inputs[0]
             : add_window(builder, inputs[0], window, blocks, maximum ? in.low() : Wide{0});
  return builder.finish(direct ? "mase_pool" : "mase_reduce", std::move(parameters), {stream},
                        lanes);
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
      {"pool", pool_rule, fold_lanes, pool_interval, pool_bursts, add_pool},
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
