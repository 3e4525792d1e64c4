// SPDX-License-Identifier: Apache-2.0
// Two frames in a memory, read in the order of an image.
#include "hardware/design/modules/gather.hpp"

#include <algorithm>
#include <array>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// gather: room for two frames of `in` beats; of each `out` beats are given, beat i as soon as
/// `start` + i beats or the whole frame are there, the last one only then.
class GatherHandshake final : public HandshakeOf<GatherHandshake> {
 public:
  GatherHandshake(std::int64_t in, std::int64_t out, std::int64_t start, Stages kept)
      : in_(in), out_(out), start_(start), pipe_(1, kept) {}
  bool ready(int) const override { return full_ < 2; }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return acts() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(Moves taken, Moves given) override {
    const bool issue = acts();
    pipe_.step(issue, given[0] != 0);
    if (taken[0] != 0) {
      count_up(written_, in_);
      if (written_ == 0) ++full_;
    }
    if (issue) {
      count_up(read_, out_);
      if (read_ == 0) --full_;
    }
  }
  bool operator==(const GatherHandshake&) const = default;

 private:
  bool can_read() const {
    return full_ > 0 || (read_ + 1 < out_ && written_ >= std::min(start_ + read_, in_));
  }
  bool acts() const { return can_read() && pipe_.enable(); }

  std::int64_t in_, out_, start_;
  std::int64_t written_ = 0, read_ = 0;  ///< beats of the frame that comes in, that goes out
  int full_ = 0;                         ///< whole frames
  Pipe pipe_;
};

const integer::Gather& gather_of(const Step& step) {
  return std::get<integer::Gather>(step.operation);
}

FoldRule gather_rule(const Program&, const Step& step, const Fold&) {
  return same_lanes(gather_of(step).block());
}

std::int64_t gather_interval(const Program& program, const Step& step, const Fold& fold) {
  const std::int64_t in = program.value(step.inputs[0]).elements();
  return std::max(in, program.value(step.output).elements()) / fold.in_lanes;
}

bool gather_bursts(const Program&, const Step&, const Fold&) { return true; }

StreamId add_gather(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::Gather& gather = gather_of(builder.step);
  const std::int64_t lanes = builder.fold.in_lanes;
  const GatherImage image = gather_image(gather, lanes);
  const int width = builder.output().type.width;
  const GatherModule module{
      .in = gather.period / lanes,
      .out = static_cast<std::int64_t>(gather.places.size()) / lanes,
      .run = image.run,
      .start = image.start,
      .lanes = lanes,
      .bits = width,
      .pads = image.pads,
      .outside = plain_code(gather.outside, width),
      .file = builder.vector_memory("places", image.words, 1, image.word_bits)};
  return builder.finish(module, inputs, lanes);
}

}  // namespace

std::unique_ptr<Handshake> GatherModule::handshake(Stages kept) const {
  return std::make_unique<GatherHandshake>(in, out, start, kept);
}

/// Two frames, the image of places, and the counters of writer and reader.
Cost GatherModule::cost(const Design& design) const {
  const std::int64_t runs = out / run, width = lanes * bits;
  const std::int64_t place = std::max(1, log2_ceiling(in)), word = place + (pads ? 1 : 0);
  Cost cost = skid_cost(width);
  cost += window_memory_cost(width, 2 * in);
  cost += lookup_in_block.holds(word, runs) ? block_memory_cost(word, runs)
                                            : table_cost(word, runs, design.find_memory(file));
  cost += counters_cost(std::array{in, in + 1, runs, run});
  cost.carry += carry_chain(place + 1);  // the comparison of what is there with what is needed
  cost.lut += fitted.gather + fitted.gather_bit * static_cast<double>(place);
  if (run > 1) cost += adder_cost(std::min<std::int64_t>(place, log2_ceiling(run) + 1));
  cost.ff += 7;
  return cost;
}

Paths GatherModule::paths(const Technology& technology) const {
  Path next = counter_path(out / run, technology);
  next.what = "beats that are there";
  next.luts += 1;
  next.chains += 1;  // compared with what is needed
  next.carry += static_cast<double>(log2_ceiling(in + 1));
  return {next};
}

std::vector<Measured<GatherModule>> GatherModule::measured() {
  const auto gather = [](std::int64_t in, std::int64_t out, std::int64_t run, std::int64_t start,
                         std::int64_t lanes, int bits, bool pads, std::string file) {
    return GatherModule{.in = in,
                        .out = out,
                        .run = run,
                        .start = start,
                        .lanes = lanes,
                        .bits = bits,
                        .pads = pads,
                        .file = std::move(file)};
  };
  return {{gather(16, 16, 1, 16, 1, 8, false, "16x4"), 50 + 4},
          {gather(64, 100, 1, 8, 2, 8, true, "100x7"), 138 + 7},
          {gather(144, 196, 1, 20, 4, 8, true, "196x9"), 120 + 7, 0, 0.5},
          {gather(144, 576, 1, 12, 4, 8, false, "576x8"), 175 + 8, 0, 0.5},
          {gather(576, 2304, 4, 48, 1, 8, false, "576x10"), 182 + 13, 0, 0.5},
          {gather(784, 900, 1, 30, 1, 8, true, "900x11"), 66 + 10, 0, 1},
          {gather(256, 256, 16, 256, 1, 6, false, "16x8"), 67 + 10, 0, 0.5},
          {gather(12, 48, 12, 12, 8, 4, false, "4x4"), 95 + 4},
          {gather(1024, 512, 8, 512, 2, 8, false, "64x10"), 86 + 13, 0, 1}};
}

StepRow GatherModule::step() {
  return {"gather", gather_rule, fold_lanes, gather_interval, gather_bursts, add_gather};
}

ModuleRow GatherModule::row() {
  return row_of_module<GatherModule>({.folder = "plumbing",
                                      .doc = "beats of a frame in another order",
                                      .uses = {"mase_skid", "mase_rom", "mase_window_memory"},
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
