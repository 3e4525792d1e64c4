// SPDX-License-Identifier: Apache-2.0
// The row of a user's module, its handshake, cycles and cost, and the step that becomes it.
#include "hardware/design/modules/external.hpp"

#include <map>

#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/paced_pipe.hpp"

namespace mase::design {
namespace {

ModuleRow external_row(const ir::CustomHardware& hardware) {
  return {.name = hardware.module,
          .doc = "a module of the user's",
          .uses = {"mase_skid"},
          .inputs = {hardware.input},
          .outputs = {hardware.output},
          .files = hardware.files};
}

Cost lane_cost(const ir::CustomHardware& hardware) {
  return {hardware.lut, hardware.ff, hardware.carry, hardware.dsp, hardware.bram};
}

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
  const std::int64_t lanes = builder.fold.in_lanes;
  ModuleParameters parameters;
  for (const auto& [name, value] : hardware.parameters) {
    const auto* word = std::get_if<std::string>(&value);
    parameters.emplace_back(name, word ? value_of(builder, *word) : std::get<std::int64_t>(value));
  }
  return builder.finish(
      Module(std::make_unique<ExternalModule>(hardware, lanes, std::move(parameters))), inputs,
      lanes);
}

}  // namespace

ExternalModule::ExternalModule(const ir::CustomHardware& hardware, std::int64_t lanes,
                               ModuleParameters parameters)
    : row_(external_row(hardware)),
      latency_(hardware.latency),
      interval_(hardware.interval),
      cost_(scaled(lane_cost(hardware), static_cast<double>(lanes))),
      parameters_(std::move(parameters)) {}

std::unique_ptr<ModuleBase> ExternalModule::copy() const {
  return std::make_unique<ExternalModule>(*this);
}

std::unique_ptr<Handshake> ExternalModule::handshake(Stages kept) const {
  return std::make_unique<PacedPipeHandshake>(static_cast<int>(latency_) - 1, interval_, kept);
}

Cost ExternalModule::cost(const Design&) const { return cost_; }

StepRow ExternalModule::step() {
  return {"external", external_rule, fold_lanes, external_interval, nullptr, add_external};
}

}  // namespace mase::design
