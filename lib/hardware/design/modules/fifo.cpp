// SPDX-License-Identifier: Apache-2.0
// A memory in LUTs or in blocks, with an output register.
#include "hardware/design/modules/fifo.hpp"

#include <algorithm>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

class FifoHandshake final : public HandshakeOf<FifoHandshake> {
 public:
  /// `block`: behind the memory is a register more.
  FifoHandshake(std::int64_t depth, bool block) : depth_(depth), block_(block) {}
  bool ready(int) const override { return count_ != depth_; }
  bool valid(int) const override { return valid_; }
  std::int64_t quiet() const override {
    return valid_ || (count_ == 0 && !word_valid_) ? forever : 0;
  }
  void clock(Moves taken, Moves given) override {
    const bool move = !valid_ || given[0] != 0, pull = count_ != 0 && move;
    count_ += static_cast<int>(taken[0] != 0) - static_cast<int>(pull);
    if (!move) return;
    valid_ = block_ ? word_valid_ : pull;
    word_valid_ = block_ && pull;
  }
  bool operator==(const FifoHandshake&) const = default;

 private:
  std::int64_t depth_, count_ = 0;  ///< beats in the memory
  bool block_;
  bool word_valid_ = false, valid_ = false;  ///< of the block memory's word, of the output register
};

bool in_block(const FifoModule& fifo) { return queue_in_block.holds(fifo.width, fifo.depth); }

}  // namespace

std::unique_ptr<Handshake> FifoModule::handshake(Stages) const {
  return std::make_unique<FifoHandshake>(depth, in_block(*this));
}

Cost FifoModule::cost(const Design&) const {
  const int address = std::max(1, log2_ceiling(depth));
  Cost cost = in_block(*this) ? block_memory_cost(width, depth) : lut_memory_cost(width, depth);
  cost.lut += depth > 15 ? fitted.queue_bit * address + fitted.queue
                         : fitted.short_queue + fitted.short_queue_bit * address;
  cost.ff += 3 * address + 2 + static_cast<double>(width);
  cost.carry += 2 * carry_chain(address) + carry_chain(log2_ceiling(depth + 1));
  return cost;
}

Paths FifoModule::paths(const Technology& technology) const {
  const Path pull{.what = "pull",
                  .luts = 1 + tree_luts(log2_ceiling(depth + 1), technology),
                  .readers = static_cast<double>(width)};
  return {counter_path(depth + 1, technology), pull,
          memory_path(width, depth, in_block(*this), technology)};
}

std::vector<Measured<FifoModule>> FifoModule::measured() {
  return {{{.width = 32, .depth = 2}, 32},      {{.width = 16, .depth = 7}, 28 + 3},
          {{.width = 32, .depth = 16}, 43 + 4}, {{.width = 12, .depth = 22}, 30 + 6},
          {{.width = 6, .depth = 240}, 77 + 6}, {{.width = 16, .depth = 153}, 35 + 6, 0, 0.5}};
}

ModuleRow FifoModule::row() {
  return row_of_module<FifoModule>(
      {.folder = "plumbing", .doc = "queue", .inputs = {"in"}, .outputs = {"out"}});
}

std::int64_t depth_of(const Instance& fifo) { return module_of<FifoModule>(fifo).depth; }

void set_depth(Instance& fifo, std::int64_t depth) {
  FifoModule module = module_of<FifoModule>(fifo);
  module.depth = depth;
  fifo.module = module;
}

}  // namespace mase::design
