// SPDX-License-Identifier: Apache-2.0
// A memory of constants beside the register of a beat.
#include "hardware/design/modules/insert.hpp"

#include <array>
#include <numeric>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// insert: a row is `before` constants, `beats` beats of the input, and `after` constants. A beat
/// of the input waits in a register, and the constants before a row wait for its first beat.
class InsertHandshake final : public HandshakeOf<InsertHandshake> {
 public:
  InsertHandshake(std::int64_t before, std::int64_t beats, std::int64_t after, Stages kept)
      : before_(before), end_(before + beats), row_(before + beats + after), pipe_(1, kept) {}
  bool ready(int) const override { return !full_ || (pipe_.enable() && is_input()); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return acts() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(Moves taken, Moves given) override {
    const bool load = ready(0), leaves = acts();
    pipe_.step(leaves, given[0] != 0);
    if (leaves) count_up(index_, row_);
    if (load) full_ = taken[0] != 0;
  }
  bool operator==(const InsertHandshake&) const = default;

 private:
  bool is_input() const { return index_ >= before_ && index_ < end_; }
  bool can_leave() const { return full_ || index_ >= end_; }
  bool acts() const { return can_leave() && pipe_.enable(); }

  std::int64_t before_, end_, row_, index_ = 0;  ///< index of the beat in the row that leaves
  bool full_ = false;
  Pipe pipe_;
};

const integer::Insert& insert_of(const Step& step) {
  return std::get<integer::Insert>(step.operation);
}

std::int64_t input_elements_per_row(const Program& program, const Step& step) {
  return program.value(step.inputs[0]).elements() / insert_of(step).rows;
}

FoldRule insert_rule(const Program& program, const Step& step, const Fold&) {
  const integer::Insert& insert = insert_of(step);
  const std::int64_t around = std::gcd(insert.before, insert.after);
  return same_lanes(std::gcd(std::gcd(input_elements_per_row(program, step), around),
                             static_cast<std::int64_t>(insert.codes.size())));
}

StreamId add_insert(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const integer::Insert& insert = insert_of(builder.step);
  const std::int64_t lanes = builder.fold.in_lanes;
  const int bits = builder.output().type.width;
  const InsertModule module{
      .width = lanes * bits,
      .before = insert.before / lanes,
      .beats = input_elements_per_row(builder.program, builder.step) / lanes,
      .after = insert.after / lanes,
      .depth = static_cast<std::int64_t>(insert.codes.size()) / lanes,
      .image_file = builder.vector_memory("constants", insert.codes, lanes, bits)};
  return builder.finish(module, inputs, lanes);
}

}  // namespace

std::unique_ptr<Handshake> InsertModule::handshake(Stages kept) const {
  return std::make_unique<InsertHandshake>(before, beats, after, kept);
}

Cost InsertModule::cost(const Design& design) const {
  Cost cost = skid_cost(width);
  cost += kept_image_cost(design, width, depth, image_file);
  cost += counters_cost(std::array{before + beats + after, depth});
  cost.lut += 4;
  cost.ff += static_cast<double>(2 * width + 5);
  return cost;
}

Paths InsertModule::paths(const Technology& technology) const {
  return {counter_path(before + beats + after, technology), choice_path(2, width, technology),
          rom_path(width, depth, lookup_in_block.holds(width, depth), technology)};
}

std::vector<Measured<InsertModule>> InsertModule::measured() {
  const auto insert = [](std::int64_t width, std::int64_t before, std::int64_t beats,
                         std::int64_t after, std::int64_t depth, std::string file) {
    return InsertModule{.width = width,
                        .before = before,
                        .beats = beats,
                        .after = after,
                        .depth = depth,
                        .image_file = std::move(file)};
  };
  return {{insert(8, 1, 16, 0, 1, "1x8"), 21 + 2},
          {insert(8, 48, 3072, 0, 48, "48x8"), 45 + 5},
          {insert(32, 2, 5, 3, 20, "20x32"), 83 + 3},
          {insert(16, 0, 10, 300, 300, "300x16"), 147 + 6},
          {insert(64, 0, 100, 200, 200, "200x64"), 96 + 5, 0, 1}};
}

StepRow InsertModule::step() {
  return {"insert", insert_rule, fold_lanes, output_interval, nullptr, add_insert};
}

ModuleRow InsertModule::row() {
  return row_of_module<InsertModule>({.folder = "plumbing",
                                      .doc = "constants around rows",
                                      .uses = {"mase_skid", "mase_rom"},
                                      .reloads = true,
                                      .inputs = {"in"},
                                      .outputs = {"out"}});
}

}  // namespace mase::design
