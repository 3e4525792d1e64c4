// SPDX-License-Identifier: Apache-2.0
// The row of a user's module, and the step that becomes it.
#include "hardware/design/modules/external.hpp"

#include <map>

#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/paced_pipe.hpp"
#include "ir/custom_op.hpp"

namespace mase::design {
namespace {

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
  const integer::FixedType &in = builder.input().type, &out = builder.output().type;
  const std::map<std::string, std::int64_t> values{
      {"lanes", builder.fold.in_lanes},      {"in_width", in.width},
      {"in_signed", in.is_signed ? 1 : 0},   {"out_width", out.width},
      {"out_signed", out.is_signed ? 1 : 0}, {"channels", builder.output().channels()}};
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

ModuleRow external_module(const ir::CustomHardware& hardware) {
  ModuleRow row;
  row.name = hardware.module;
  row.doc = "a module of the user's";
  row.uses = {"mase_skid"};
  row.inputs = {hardware.input};
  row.outputs = {hardware.output};
  row.files = hardware.files;
  row.handshake = [latency = static_cast<int>(hardware.latency), interval = hardware.interval](
                      const ModuleParameters&, Stages kept) -> std::unique_ptr<Handshake> {
    return std::make_unique<PacedPipeHandshake>(latency - 1, interval, kept);
  };
  const Cost lane{hardware.lut, hardware.ff, hardware.carry, hardware.dsp, hardware.bram};
  row.cost = [lane](const Design& design, const Instance& instance) {
    return scaled(lane, static_cast<double>(design.stream(instance.outputs[0]).lanes));
  };
  return row;
}

StepRow external_step() {
  return {"external", external_rule, fold_lanes, external_interval, nullptr, add_external};
}

}  // namespace mase::design
