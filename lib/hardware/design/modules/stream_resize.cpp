// SPDX-License-Identifier: Apache-2.0
// Beats cut into pieces, or put together from them; where neither number of lanes divides the
// other, by mase_stream_regroup.
#include "hardware/design/modules/stream_resize.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/streams.hpp"

namespace mase::design {
namespace {

/// To more lanes: beats of `in` lanes taken, one of `out` given when they are there; a skid behind
/// them where two of these can follow each other, else a register.
class WidenHandshake final : public HandshakeOf<WidenHandshake> {
 public:
  WidenHandshake(std::int64_t out, std::int64_t in) : in_(in), out_(out) {}
  bool ready(int) const override {
    return !completes() || (out_ < 2 * in_ ? skid_.ready() : !skid_.valid());
  }
  std::int64_t quiet() const override { return forever; }
  bool valid(int) const override { return skid_.valid(); }
  void clock(Moves taken, Moves given) override {
    const bool complete = taken[0] != 0 && completes();
    if (taken[0] != 0) lanes_ += in_;
    if (complete) lanes_ -= out_;
    skid_.step(complete, given[0] != 0);
  }
  bool operator==(const WidenHandshake&) const = default;

 private:
  bool completes() const { return lanes_ + in_ >= out_; }

  std::int64_t in_, out_, lanes_ = 0;  ///< lanes that wait for others
  Skid skid_;
};

/// LUTs of a bit that chooses one of `pieces` and enters a skid: four pieces a LUT6, two a LUT3,
/// and the last two stand in the skid's own LUT.
std::int64_t choice_luts(std::int64_t pieces) {
  std::int64_t luts = 1;
  while (pieces > 2) {
    const std::int64_t groups = pieces / 4 + (pieces % 4 > 1 ? 1 : 0);
    luts += groups;
    pieces = groups + (pieces % 4 == 1 ? 1 : 0);
  }
  return luts;
}

Cost narrow_cost(std::int64_t bits, std::int64_t pieces) {
  const int index = log2_ceiling(pieces);
  return {.lut = static_cast<double>(bits * choice_luts(pieces) + std::max(6, 2 + 2 * index)),
          .ff = static_cast<double>(bits * (pieces + 2) + 3 + index),
          .carry = carry_chain(index)};
}

/// LUTs of a bit that is one of so many.
double one_of_luts(std::int64_t choices) { return static_cast<double>(ceiling(choices - 1, 3)); }

/// mase_stream_regroup to fewer lanes. A lane of its register takes another one of the beat for
/// each place where that can enter, the one further up, or what is left.
Cost regroup_down_cost(std::int64_t width, std::int64_t in, std::int64_t out) {
  const int count = log2_ceiling(in + out);
  const std::int64_t lanes = in + out - 1;
  Cost cost = skid_cost(width * out);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t places = std::min(out - 1, lane) - std::max<std::int64_t>(0, lane - in + 1);
    const std::int64_t others = (lane < in - 1 ? 1 : 0) + (lane < out - 1 ? 1 : 0);
    cost.lut += static_cast<double>(width) * one_of_luts(places + 1 + others);
  }
  cost.lut += static_cast<double>(width * (out - 1)) + 5 * count;
  cost.ff += static_cast<double>(width * lanes) + count + log2_ceiling(out + 1) + 1;
  cost.carry += 2 * carry_chain(count);
  return cost;
}

/// The same to more lanes: the output takes one of `in` places of a shift register. A skid chooses
/// between two in its own LUTs.
Cost regroup_up_cost(std::int64_t width, std::int64_t in, std::int64_t out) {
  const int room = log2_ceiling(out);
  const bool skid = out < 2 * in;
  Cost cost{.lut = static_cast<double>(width * out) * one_of_luts(in) + fitted.regroup_bit * room,
            .ff = static_cast<double>(width * (2 * out - 1) + room + 1),
            .carry = carry_chain(room)};
  if (!skid) return cost;
  cost.lut += 3 + (in > 2 ? static_cast<double>(width * out) : 0);
  cost.ff += static_cast<double>(width * out + 1);
  return cost;
}

bool regroups(const ResizeModule& resize) {
  return resize.in_lanes % resize.out_lanes != 0 && resize.out_lanes % resize.in_lanes != 0;
}

}  // namespace

std::unique_ptr<Handshake> ResizeModule::handshake(Stages) const {
  if (in_lanes == out_lanes) return std::make_unique<SkidHandshake>();
  if (in_lanes > out_lanes)
    return std::make_unique<NarrowHandshake>(in_lanes, 0, Stages::all, out_lanes);
  return std::make_unique<WidenHandshake>(out_lanes, in_lanes);
}

Cost ResizeModule::cost(const Design&) const {
  if (regroups(*this))
    return in_lanes > out_lanes ? regroup_down_cost(width, in_lanes, out_lanes)
                                : regroup_up_cost(width, in_lanes, out_lanes);
  const auto [few, many] = std::minmax(in_lanes, out_lanes);
  const std::int64_t ratio = many / few, narrow = few * width;
  if (ratio == 1) return skid_cost(narrow);
  const int index = log2_ceiling(ratio), last = ratio > 2 ? 1 : 0;  // of two it is the index
  if (in_lanes > out_lanes) {
    Cost cost = narrow_cost(narrow, ratio);
    cost.ff += last;
    return cost;
  }
  return {.lut = 4.0 + index,
          .ff = static_cast<double>(narrow * (2 * ratio - 1) + 1 + index + last),
          .carry = carry_chain(index)};
}

Paths ResizeModule::paths(const Technology& technology) const {
  const auto [few, many] = std::minmax(in_lanes, out_lanes);
  const std::int64_t wide = many * width;
  if (regroups(*this)) {
    const std::int64_t places = in_lanes > out_lanes ? out_lanes + 1 : in_lanes;
    Path lanes = counter_path(in_lanes + out_lanes, technology);
    lanes.readers = static_cast<double>(wide);
    return {lanes, choice_path(places, wide, technology)};
  }
  const std::int64_t ratio = many / few;
  if (ratio == 1) return {};
  const Path index = counter_path(ratio, technology);
  const Path beat{.what = "wide beat", .luts = 1, .readers = static_cast<double>(wide)};
  if (in_lanes < out_lanes) return {index, beat};
  const std::int64_t first = ratio / 2 * out_lanes * width;  // of the index's bit 0
  return {index, beat, choice_path(ratio, first, technology)};
}

std::vector<Measured<ResizeModule>> ResizeModule::measured() {
  const auto resize = [](std::int64_t width, std::int64_t in, std::int64_t out) {
    return ResizeModule{.width = width, .in_lanes = in, .out_lanes = out};
  };
  return {{resize(6, 4, 1), 18},      {resize(6, 5, 1), 20 + 1},    {resize(8, 8, 1), 32 + 1},
          {resize(12, 8, 1), 44 + 1}, {resize(7, 8, 1), 29 + 1},    {resize(8, 25, 5), 88 + 1},
          {resize(16, 4, 1), 38},     {resize(144, 6, 1), 440 + 1}, {resize(84, 12, 1), 429 + 1},
          {resize(8, 5, 3), 105},     {resize(6, 9, 4), 172},       {resize(8, 9, 8), 379},
          {resize(8, 197, 3), 1672},  {resize(8, 3, 5), 89 + 1},    {resize(12, 2, 3), 44},
          {resize(6, 4, 9), 60},      {resize(8, 3, 197), 1589}};
}

ModuleRow ResizeModule::row() {
  return row_of_module<ResizeModule>({.folder = "plumbing",
                                      .doc = "other number of lanes",
                                      .uses = {"mase_skid", "mase_stream_regroup"},
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
