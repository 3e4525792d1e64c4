// SPDX-License-Identifier: Apache-2.0
// A skid that takes its inputs in turn.
#include "hardware/design/modules/concat.hpp"

#include <algorithm>
#include <numeric>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// concat: `first` beats of input 0, then `second` beats of input 1.
class ConcatHandshake final : public HandshakeOf<ConcatHandshake> {
 public:
  ConcatHandshake(std::int64_t first, std::int64_t second)
      : first_(first), total_(first + second) {}
  bool ready(int input) const override {
    return skid_.ready() && (index_ >= first_) == (input == 1);
  }
  std::int64_t quiet() const override { return forever; }
  bool valid(int) const override { return skid_.valid(); }
  void clock(Moves taken, Moves given) override {
    const bool enters = taken[0] != 0 || taken[1] != 0;
    skid_.step(enters, given[0] != 0);
    if (enters) count_up(index_, total_);
  }
  bool operator==(const ConcatHandshake&) const = default;

 private:
  std::int64_t first_, total_, index_ = 0;
  Skid skid_;
};

FoldRule concat_rule(const Program& program, const Step& step, const Fold&) {
  const std::int64_t rows = std::get<integer::Concat>(step.operation).rows;
  std::int64_t common = 0;
  for (integer::ValueId id : step.inputs)
    common = std::gcd(common, program.value(id).elements() / rows);
  return same_lanes(common);
}

/// A module for each input after the first, run by run.
StreamId add_concat(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const StreamValue& value = builder.output();
  const std::int64_t lanes = builder.fold.in_lanes;
  const std::int64_t rows = std::get<integer::Concat>(builder.step.operation).rows;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    MASE_CHECK(builder.input(i).type == value.type, "concat of different types at " + value.name);
  StreamId joined = inputs[0];
  std::int64_t length = builder.input(0).elements() / rows;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const std::int64_t more = builder.input(i).elements() / rows;
    const ConcatModule module{
        .width = lanes * value.type.width, .first = length / lanes, .second = more / lanes};
    length += more;
    const std::vector<StreamId> pair{joined, inputs[i]};
    const std::string part = "_" + std::to_string(i);
    joined = i + 1 == inputs.size()
                 ? builder.finish(module, pair, lanes)
                 : builder.add(module, part, pair,
                               {builder.name() + part, lanes, value.type, rows * length, -1});
  }
  return joined;
}

}  // namespace

std::unique_ptr<Handshake> ConcatModule::handshake(Stages) const {
  return std::make_unique<ConcatHandshake>(first, second);
}

Cost ConcatModule::cost(const Design&) const {
  const int index = log2_ceiling(std::max(first, second));
  Cost cost = skid_cost(width);
  cost.lut += 4 + fitted.counter_bit * index;
  cost.ff += index + 1;
  cost.carry += carry_chain(index);
  return cost;
}

Paths ConcatModule::paths(const Technology& technology) const {
  return {counter_path(std::max(first, second), technology), choice_path(2, width, technology)};
}

std::vector<Measured<ConcatModule>> ConcatModule::measured() {
  const auto concat = [](std::int64_t width, std::int64_t a, std::int64_t b) {
    return ConcatModule{.width = width, .first = a, .second = b};
  };
  return {{concat(8, 16, 16), 20 + 1}, {concat(8, 1, 1), 15},      {concat(64, 2, 2), 72},
          {concat(128, 1, 1), 135},    {concat(32, 3, 5), 43 + 1}, {concat(16, 10, 3), 28 + 1}};
}

StepRow ConcatModule::step() {
  return {"concat", concat_rule, fold_lanes, output_interval, nullptr, add_concat};
}

ModuleRow ConcatModule::row() {
  return row_of_module<ConcatModule>({.folder = "plumbing",
                                      .doc = "streams one after another",
                                      .uses = {"mase_skid"},
                                      .inputs = {"a", "b"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
