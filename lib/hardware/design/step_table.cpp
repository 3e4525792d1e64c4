// SPDX-License-Identifier: Apache-2.0
// Rows by kind, fold checks, and what every row's builder shares.
#include "hardware/design/step_table.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hardware/design/modules/all.hpp"
#include "hardware/design/modules/stream_resize.hpp"

namespace mase::design {
namespace {

void check_lanes(const Step& step, const char* what, std::int64_t lanes, std::int64_t count,
                 std::int64_t unit, const std::vector<std::int64_t>& choices) {
  if (std::ranges::find(choices, lanes) != choices.end()) return;
  std::vector<std::string> texts;
  for (std::int64_t choice : choices) texts.push_back(std::to_string(choice));
  config_error("parallelism of '" + step.name + "': " + what + " = " + std::to_string(lanes) +
               " does not divide " + std::to_string(count) +
               (unit > 1 ? " by whole groups of " + std::to_string(unit) : "") + "; use " +
               join(texts, ", "));
}

std::vector<std::int64_t> multiples(std::int64_t unit, std::int64_t count) {
  std::vector<std::int64_t> lanes = divisors(count / unit);
  for (std::int64_t& lane : lanes) lane *= unit;
  return lanes;
}

}  // namespace

std::vector<std::int64_t> FoldRule::in_lanes() const { return multiples(in_unit, in); }

std::vector<std::int64_t> FoldRule::out_lanes() const {
  std::vector<std::int64_t> lanes = divisors(out_unit);
  lanes.pop_back();  // the unit itself
  for (std::int64_t lane : multiples(out_unit, out)) lanes.push_back(lane);
  return lanes;
}

const StepRow& step_row(const Step& step) {
  static const std::vector<StepRow> table = [] {
    std::vector<StepRow> rows;
    for (const Listed& listed : all_modules())
      if (listed.step) rows.push_back(listed.step());
    return rows;
  }();
  const std::string_view kind = integer::step_kind(step.operation);
  const auto it = std::find_if(table.begin(), table.end(),
                               [&](const StepRow& row) { return row.kind == kind; });
  MASE_CHECK(it != table.end(), "no hardware for steps of kind " + std::string(kind));
  return *it;
}

void check_fold(const Program& program, const Step& step, const Fold& fold) {
  const FoldRule rule = step_row(step).rule(program, step, fold);
  if (fold.parallel_window && !rule.parallel_window)
    config_error(
        "parallelism of '" + step.name +
        "': only a convolution whose kernel is above 1x1 and reaches over its padding has a "
        "parallel window");
  check_lanes(step, "simd (input lanes)", fold.in_lanes, rule.in, rule.in_unit, rule.in_lanes());
  check_lanes(step, "pe (output lanes)", fold.out_lanes, rule.out, rule.out_unit, rule.out_lanes());
  if (rule.same && fold.in_lanes != fold.out_lanes)
    config_error("parallelism of '" + step.name + "': simd = " + std::to_string(fold.in_lanes) +
                 " and pe = " + std::to_string(fold.out_lanes) +
                 " must be equal, it works lane by lane");
}

std::int64_t output_lanes(const Program& program, const Step& step, const Fold& fold) {
  return step_row(step).rule(program, step, fold).same ? fold.in_lanes : fold.out_lanes;
}

std::int64_t step_interval(const Program& program, const Step& step, const Fold& fold) {
  return step_row(step).interval(program, step, fold);
}

bool takes_in_bursts(const Program& program, const Step& step, const Fold& fold) {
  const StepRow& row = step_row(step);
  return row.bursts && row.bursts(program, step, fold);
}

std::vector<Packing> step_packings(const Program& program, const Step& step, const Fold& fold,
                                   const DspBlock& block) {
  const StepRow& row = step_row(step);
  if (!row.shared || fold.multiplier == Multiplier::fabric) return {};
  return packings(row.shared(program, step, fold), block);
}

Design lone_step(const Program& program, const Step& step, const Fold& fold, bool images) {
  Design design;
  design.reloadable = program.contents == integer::Contents::reloadable;
  StepBuilder builder(design, program, step, fold, step.name, images);
  for (std::size_t port = 0; port < step.inputs.size(); ++port) {
    const integer::ValueId id = step.inputs[port];
    const StreamValue& value = program.value(id);
    const std::int64_t lanes = step_row(step).input_lanes(step, fold, port);
    design.inputs.push_back(static_cast<StreamId>(design.streams.size()));
    design.streams.push_back({value.name, lanes, value.type, value.elements(), id});
  }
  design.outputs = {step_row(step).add(builder, design.inputs)};
  return design;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d != number / d) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::int64_t accumulator_width(const Step& step) {
  return integer::signed_width(step.low, step.high);
}

Sized plain_code(Wide code, int width) {
  return {code & ((Wide{1} << std::min(width, 126)) - 1), width, false};
}

Requantisation requantisation_of(const StepBuilder& builder) {
  const integer::FixedType& type = builder.output().type;
  integer::Requantise requantise = builder.step.requantise;
  // A bound that no value of the step passes is that of the type, which costs nothing.
  integer::Requantise unbounded = requantise;
  unbounded.high = Wide{1} << 120;
  unbounded.low = -unbounded.high;
  if (unbounded(builder.step.low) >= requantise.low) requantise.low = type.low();
  if (unbounded(builder.step.high) <= requantise.high) requantise.high = type.high();
  return requantisation(requantise, type);
}

FoldRule same_lanes(std::int64_t count) { return {count, count, true}; }

FoldRule element_rule(const Program& program, const Step& step, const Fold&) {
  return same_lanes(program.value(step.output).elements());
}

FoldRule channel_rule(const Program& program, const Step& step, const Fold&) {
  return same_lanes(program.value(step.output).channels());
}

std::int64_t input_interval(const Program& program, const Step& step, const Fold& fold) {
  return program.value(step.inputs[0]).elements() / fold.in_lanes;
}

std::int64_t output_interval(const Program& program, const Step& step, const Fold& fold) {
  return program.value(step.output).elements() / fold.in_lanes;
}

std::int64_t unfolded_interval(const Program& program, const Step& step, const Fold& fold) {
  return program.value(step.output).elements() / fold.out_lanes;
}

std::int64_t fold_lanes(const Step&, const Fold& fold, std::size_t) { return fold.in_lanes; }

const StreamValue& StepBuilder::input(std::size_t index) const {
  return program.value(step.inputs.at(index));
}

StreamId StepBuilder::add(Module module, std::string_view suffix, std::vector<StreamId> inputs,
                          Stream out) {
  const auto id = static_cast<StreamId>(design_.streams.size());
  design_.streams.push_back(std::move(out));
  design_.instances.push_back(
      {name_ + std::string(suffix), step.layer, std::move(module), std::move(inputs), {id}});
  return id;
}

StreamId StepBuilder::finish(Module module, std::vector<StreamId> inputs, std::int64_t lanes) {
  const StreamValue& value = output();
  return add(std::move(module), "", std::move(inputs),
             {value.name, lanes, value.type, value.elements(), step.output});
}

StreamId StepBuilder::resize(StreamId from, std::int64_t lanes, std::string_view name,
                             std::int64_t interval) {
  const std::int64_t have = stream(from).lanes;
  if (have == lanes) return from;
  const std::int64_t few = std::gcd(have, lanes);
  const bool whole = few == have || few == lanes;
  if (!whole && stream(from).elements / few <= interval)
    return resize(resize(from, few, name), lanes, name);
  Stream out = stream(from);
  out.lanes = lanes;
  out.name = std::string(name);
  const std::int64_t unit = whole ? 1 : few;  // lanes that stay together
  const ResizeModule module{
      .width = unit * out.type.width, .in_lanes = have / unit, .out_lanes = lanes / unit};
  const auto id = static_cast<StreamId>(design_.streams.size());
  design_.streams.push_back(std::move(out));
  design_.instances.push_back({std::string(name), "", module, {from}, {id}});
  return id;
}

std::string StepBuilder::add_memory(const std::string& what, std::int64_t word_bits,
                                    std::vector<std::string> words) {
  std::string file = name_ + "_" + what + ".mem";
  design_.memories.push_back({file, step.layer, what, word_bits, std::move(words), {}});
  return file;
}

}  // namespace mase::design
