// SPDX-License-Identifier: Apache-2.0
// Timing of networks of simple handshake models, worked out by hand cycle by cycle.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/design/timing/schedule.hpp"

using namespace mase;
using namespace mase::design;

namespace {

/// A register: holds one beat, takes the next one only when it is empty.
class Cell : public Handshake {
 public:
  bool ready(int) const override { return !full_; }
  bool valid(int) const override { return full_; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override {
    if (given[0]) full_ = false;
    if (taken[0]) full_ = true;
  }

 private:
  bool full_ = false;
};

/// Takes `count` beats, then gives one, and takes nothing while it waits to give.
class Gather : public Handshake {
 public:
  explicit Gather(int count) : count_(count) {}
  bool ready(int) const override { return held_ < count_; }
  bool valid(int) const override { return held_ == count_; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override {
    if (given[0]) held_ = 0;
    held_ += taken[0];
  }

 private:
  int count_, held_ = 0;
};

/// Takes a beat when all copies of the last one are gone.
class Fork : public Handshake {
 public:
  bool ready(int) const override { return !full_[0] && !full_[1]; }
  bool valid(int output) const override { return full_[output]; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override {
    for (int o : {0, 1}) full_[o] = (full_[o] && !given[static_cast<std::size_t>(o)]) || taken[0];
  }

 private:
  bool full_[2] = {false, false};
};

/// Holds one beat of each input; gives when it has both.
class Join : public Handshake {
 public:
  bool ready(int input) const override { return !full_[input]; }
  bool valid(int) const override { return full_[0] && full_[1]; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override {
    for (int i : {0, 1}) full_[i] = (full_[i] && !given[0]) || taken[static_cast<std::size_t>(i)];
  }

 private:
  bool full_[2] = {false, false};
};

/// A register that takes a beat 1 and 2 cycles in turn after it gave one, from its tenth beat on 3.
class Tiring : public Handshake {
 public:
  bool ready(int) const override { return !full_ && pause_ == 0; }
  bool valid(int) const override { return full_; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override {
    if (pause_ > 0) --pause_;
    if (taken[0]) full_ = true;
    if (!given[0]) return;
    full_ = false;
    ++beats_;
    pause_ = beats_ < 10 ? beats_ % 2 : 2;
  }

 private:
  bool full_ = false;
  int pause_ = 0, beats_ = 0;
};

/// A module that is nothing but a handshake model.
template <class Model>
class Modelled final : public ModuleBase {
 public:
  explicit Modelled(Model model) : model_(std::move(model)) {}
  std::unique_ptr<ModuleBase> copy() const override { return std::make_unique<Modelled>(*this); }
  const ModuleRow& row() const override {
    static const ModuleRow row;
    return row;
  }
  ModuleParameters parameters() const override { return {}; }
  std::unique_ptr<Handshake> handshake(Stages) const override {
    return std::make_unique<Model>(model_);
  }
  Cost cost(const Design&) const override { return {}; }
  Paths paths(const Technology&) const override { return {}; }

 private:
  Model model_;
};

template <class Model>
Module modelled(Model model) {
  return Module(std::make_unique<Modelled<Model>>(std::move(model)));
}

Stream stream(std::string name, std::int64_t beats) {
  return {std::move(name), 1, {8, 0, true}, beats, -1};
}

Schedule schedule_of(const Design& design) {
  Network network(design, table_handshake);
  return run(network, design);
}

}  // namespace

TEST_CASE("a cell moves every second cycle") {
  Design design;
  design.streams = {stream("x", 3), stream("y", 3)};
  design.instances = {{"cell", "", modelled(Cell()), {0}, {1}}};
  design.inputs = {0};
  design.outputs = {1};
  // Taken at 0, 2, 4; given at 1, 3, 5; the next frame is 6 cycles later.
  const Schedule schedule = schedule_of(design);
  CHECK(schedule.first == 1);
  CHECK(schedule.lasts[0] == 5);
  CHECK(schedule.interval == 6);
}

TEST_CASE("a gatherer behind a cell shows latency and interval of both") {
  Design design;
  design.streams = {stream("x", 4), stream("m", 4), stream("y", 2)};
  design.instances = {{"cell", "", modelled(Cell()), {0}, {1}},
                      {"gather", "", modelled(Gather(2)), {1}, {2}}};
  design.inputs = {0};
  design.outputs = {2};
  // The cell gives at 1, 3; the gatherer is full in cycle 4 and gives there, free again in cycle 5,
  // where the cell gives its third beat, 7 the fourth; the second output is in cycle 8.
  const Schedule schedule = schedule_of(design);
  CHECK(schedule.first == 4);
  CHECK(schedule.lasts[0] == 8);
  CHECK(schedule.interval == 8);
}

TEST_CASE("a timing says after how many frames its interval shows") {
  Design design;
  design.streams = {stream("x", 1), stream("y", 1)};
  design.instances = {{"tiring", "", modelled(Tiring()), {0}, {1}}};
  design.inputs = {0};
  design.outputs = {1};
  // Nine intervals of 3 and 2 cycles in turn, then 4; it is 4 when three in a row are.
  const Timing timing = schedule_of(design).timing();
  CHECK(timing.last == 1);
  CHECK(timing.interval == 4);
  CHECK(timing.frames == 13);
}

TEST_CASE("outputs are timed together and each by itself") {
  Design design;
  design.streams = {stream("x", 4), stream("a", 4), stream("b", 4), stream("y", 1)};
  design.instances = {{"fork", "", modelled(Fork()), {0}, {1, 2}},
                      {"gather", "", modelled(Gather(4)), {2}, {3}}};
  design.inputs = {0};
  design.outputs = {1, 3};
  // The fork takes at 0, 2, 4, 6 and gives at 1, 3, 5, 7; the gatherer gives at 8. The fork has its
  // fifth beat taken at 8, given at 9 when the gatherer is free again: no time is lost.
  const Schedule schedule = schedule_of(design);
  CHECK(schedule.first == 1);
  CHECK(schedule.lasts[0] == 8);
  CHECK(schedule.interval == 8);
  CHECK(schedule.outputs[0].last == 7);
  CHECK(schedule.outputs[1].first == 8);
}

TEST_CASE("a fork and a join with too little room between them deadlock, and are named") {
  Design design;
  design.streams = {stream("x", 4), stream("short", 4), stream("long", 4), stream("sum", 4),
                    stream("y", 4)};
  design.instances = {{"split", "", modelled(Fork()), {0}, {1, 2}},
                      {"slow", "", modelled(Gather(4)), {2}, {3}},
                      {"add", "", modelled(Join()), {1, 3}, {4}}};
  design.inputs = {0};
  design.outputs = {4};
  // The join holds one beat of the short branch, the fork another; the gatherer needs four.
  const Schedule schedule = schedule_of(design);
  CHECK(schedule.deadlock.find("add does not take short and waits for sum") != std::string::npos);
  CHECK(schedule.deadlock.find("split does not take x") != std::string::npos);
}

TEST_CASE("a stream without a consumer is a defect") {
  Design design;
  design.streams = {stream("x", 1), stream("y", 1), stream("z", 1)};
  design.instances = {{"fork", "", modelled(Fork()), {0}, {1, 2}}};
  design.inputs = {0};
  design.outputs = {1};
  CHECK_THROWS_WITH(Network(design, table_handshake),
                    Catch::Contains("stream z needs one producer"));
}
