// SPDX-License-Identifier: Apache-2.0
// Design of many disconnected instances, and the comparison of its handshakes with the handshake
// models.
#include "module_bench.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "hardware/design/module_table.hpp"
#include "hardware/design/timing/predict.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/simulate.hpp"
#include "support/temporary_folder.hpp"

namespace mase::rtl_test {
namespace {

using design::StreamId;

struct Bench {
  design::Design design;
  emit::Vectors vectors;
};

StreamId add_stream(Bench& bench, const Port& port, const std::string& name, bool input) {
  const auto id = static_cast<StreamId>(bench.design.streams.size());
  const auto elements = static_cast<std::int64_t>(port.codes.size()) / bench.vectors.frames;
  bench.design.streams.push_back({name, port.lanes, port.type, elements, -1});
  (input ? bench.design.inputs : bench.design.outputs).push_back(id);
  (input ? bench.vectors.inputs : bench.vectors.outputs).push_back(port.codes);
  return id;
}

void add_case(Bench& bench, const Case& test, std::size_t index) {
  const std::string name = test.module.name() + "_" + std::to_string(index);
  design::Instance instance{name, "", test.module, {}, {}};
  for (const Port& port : test.inputs)
    instance.inputs.push_back(
        add_stream(bench, port, name + "_in" + std::to_string(instance.inputs.size()), true));
  for (const Port& port : test.outputs)
    instance.outputs.push_back(
        add_stream(bench, port, name + "_out" + std::to_string(instance.outputs.size()), false));
  bench.design.instances.push_back(std::move(instance));
  bench.design.memories.insert(bench.design.memories.end(), test.memories.begin(),
                               test.memories.end());
}

/// The design of one instance alone.
design::Design alone(const design::Design& design, const design::Instance& instance) {
  design::Design result;
  design::Instance copy = instance;
  for (auto* side : {&copy.inputs, &copy.outputs})
    for (StreamId& id : *side) {
      result.streams.push_back(design.stream(id));
      id = static_cast<StreamId>(result.streams.size()) - 1;
    }
  result.inputs = copy.inputs;
  result.outputs = copy.outputs;
  result.instances.push_back(std::move(copy));
  return result;
}

std::size_t position(const std::vector<StreamId>& ids, StreamId id) {
  return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
}

bool bit(std::uint64_t word, std::size_t index) { return (word >> index & 1) != 0; }

/// One instance beside its handshake model, through the recorded handshakes of a run.
class Lockstep {
 public:
  Lockstep(const design::Design& design, const design::Instance& instance)
      : design_(design),
        instance_(instance),
        handshake_(instance.module->handshake(design::Stages::all)),
        taken_(instance.inputs.size()),
        given_(instance.outputs.size()),
        moved_(instance.outputs.size()) {}

  void follow(const std::vector<emit::HandshakeSignals>& cycles) {
    for (cycle_ = 0; cycle_ < static_cast<std::int64_t>(cycles.size()) && agrees_; ++cycle_)
      step(cycles[static_cast<std::size_t>(cycle_)]);
  }
  bool agrees() const { return agrees_; }
  std::int64_t cycle() const { return cycle_; }

  /// First beat, last beat of the first frame (from the first input beat), interval of the last
  /// two.
  design::Timing timing() const {
    const auto n = lasts_.size();
    return {first_out_ - first_in_, lasts_.front() - first_in_, lasts_[n - 1] - lasts_[n - 2]};
  }

 private:
  void step(const emit::HandshakeSignals& now) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const std::size_t at = position(design_.inputs, instance_.inputs[i]);
      agrees_ = agrees_ && handshake_->ready(static_cast<int>(i)) == bit(now.in_ready, at);
      taken_[i] = bit(now.in_ready & now.in_valid, at);
      if (taken_[i] && first_in_ < 0) first_in_ = cycle_;
    }
    for (std::size_t o = 0; o < given_.size(); ++o) {
      const std::size_t at = position(design_.outputs, instance_.outputs[o]);
      agrees_ = agrees_ && handshake_->valid(static_cast<int>(o)) == bit(now.out_valid, at);
      given_[o] = bit(now.out_valid & now.out_ready, at);
      if (given_[o]) count_output(o);
    }
    if (agrees_) handshake_->clock(taken_, given_);
  }

  void count_output(std::size_t output) {
    if (first_out_ < 0) first_out_ = cycle_;
    const std::int64_t beats = design_.stream(instance_.outputs[output]).beats();
    if (++moved_[output] % beats != 0) return;
    const auto frame = static_cast<std::size_t>(moved_[output] / beats) - 1;
    if (lasts_.size() <= frame) lasts_.resize(frame + 1);
    lasts_[frame] = cycle_;
  }

  const design::Design& design_;
  const design::Instance& instance_;
  std::unique_ptr<design::Handshake> handshake_;
  std::vector<std::uint8_t> taken_, given_;
  std::vector<std::int64_t> moved_, lasts_;
  std::int64_t cycle_ = 0, first_in_ = -1, first_out_ = -1;
  bool agrees_ = true;
};

void check_models(const design::Design& design, const emit::Simulation& simulation, bool stalls) {
  for (const design::Instance& instance : design.instances) {
    Lockstep lockstep(design, instance);
    lockstep.follow(simulation.handshakes);
    INFO(instance.name << ", cycle " << lockstep.cycle());
    CHECK(lockstep.agrees());
    if (stalls || !lockstep.agrees()) continue;
    const design::Timing predicted = design::predict(alone(design, instance));
    CHECK(lockstep.timing().first == predicted.first);
    CHECK(lockstep.timing().last == predicted.last);
    CHECK(lockstep.timing().interval == predicted.interval);
  }
}

struct Profile {
  double in, out;
};

void check_profile(const std::string& folder, const Bench& bench, const Profile& profile) {
  emit::SimulateOptions options;
  options.stall_in = profile.in;
  options.stall_out = profile.out;
  options.seed = 7;
  options.optimise = 0;
  options.keep_handshakes = true;
  const emit::Simulation result = simulate(folder, bench.design, bench.vectors, options);
  INFO("stalls " << profile.in << " in, " << profile.out << " out");
  for (const std::string& line : result.first_mismatches) UNSCOPED_INFO(line);
  CHECK(result.passed());
  CHECK(result.frames == bench.vectors.frames);
  check_models(bench.design, result, profile.in > 0 || profile.out > 0);
}

}  // namespace

void check_cases(const std::vector<Case>& cases, std::int64_t frames) {
  Bench bench;
  bench.design.name = "bench";
  bench.vectors.frames = frames;
  for (std::size_t i = 0; i < cases.size(); ++i) add_case(bench, cases[i], i);
  for (const design::Instance& instance : bench.design.instances) {
    const design::Timing timing = design::predict(alone(bench.design, instance));
    bench.design.timing.last = std::max(bench.design.timing.last, timing.last);
  }
  test::TemporaryFolder folder;
  emit::write_files(folder.path(), emit::all_files(bench.design, {}));
  for (const Profile& profile : {Profile{0, 0}, {0.4, 0.4}, {0, 0.9}, {0.9, 0}})
    check_profile(folder.path(), bench, profile);
}

integer::Codes random_codes(Random& random, const integer::FixedType& type, std::int64_t count) {
  const auto low = static_cast<std::int64_t>(type.low());
  const auto high = static_cast<std::int64_t>(type.high());
  integer::Codes codes(static_cast<std::size_t>(count));
  for (std::int64_t& code : codes) {
    const std::uint64_t kind = random.below(8);
    code = kind == 0 ? low : kind == 1 ? high : between(random, low, high);
  }
  return codes;
}

Port random_port(Random& random, std::int64_t lanes, const integer::FixedType& type,
                 std::int64_t beats) {
  return {lanes, type, random_codes(random, type, beats * lanes)};
}

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  const auto count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + random.below(count));
}

integer::Requantise random_requantise(Random& random, const integer::FixedType& to, int shift,
                                      std::int64_t divisor) {
  integer::Requantise result;
  result.shift = shift;
  result.divisor = divisor;
  constexpr formats::Rounding modes[] = {formats::Rounding::floor, formats::Rounding::nearest_even,
                                         formats::Rounding::nearest_away};
  result.rounding = modes[random.below(3)];
  result.low = to.low();
  result.high = to.high();
  const auto kind = random.below(4);  // half of them the whole type, else relu or any range
  if (kind == 0 && to.is_signed) result.low = 0;
  if (kind != 1) return result;
  const std::int64_t a =
      between(random, static_cast<std::int64_t>(to.low()), static_cast<std::int64_t>(to.high()));
  const std::int64_t b =
      between(random, static_cast<std::int64_t>(to.low()), static_cast<std::int64_t>(to.high()));
  result.low = std::min(a, b);
  result.high = std::max(a, b);
  return result;
}

}  // namespace mase::rtl_test
