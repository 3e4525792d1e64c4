// SPDX-License-Identifier: Apache-2.0
// The ring's counters in plain integers; the formulas are those of the module's file. Logic for
// each bit of counter and address was fitted over realistic shapes.
#include "hardware/design/modules/window.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "hardware/design/modules/paths.hpp"
#include "hardware/design/modules/primitives.hpp"
#include "hardware/design/step_table.hpp"
#include "hardware/design/timing/handshake/pipe.hpp"

namespace mase::design {
namespace {

/// What follows from a window's geometry for the ring, in beats.
struct Ring : WindowGeometry {
  explicit Ring(const WindowGeometry& geometry) : WindowGeometry(geometry) {}
  bool first_padded() const { return pad_y > 0 || pad_x > 0; }
  bool padded() const { return y().padded() || x().padded(); }
  bool picks() const { return kernel_y == 1 && kernel_x == 1 && !padded(); }
  /// All before the window's first beat is free.
  bool fine() const { return y().last() < height && x().last() < width; }
  std::int64_t row() const { return width * beats; }
  std::int64_t frame() const { return height * row(); }
  std::int64_t lead() const { return pad_y * row() + pad_x * beats; }
  std::int64_t left() const { return pad_x > 0 ? pad_x * beats : 0; }
  std::int64_t depth() const;      ///< beats in the ring
  std::int64_t free_rows() const;  ///< output rows that free something before the frame's end
  /// The greatest distance between reader and writer: width of the module's counter `ahead`.
  std::int64_t gap() const;
  bool wraps() const { return std::has_single_bit(static_cast<std::uint64_t>(depth())); }
  int gap_bits() const { return log2_ceiling(gap() + 1) + 1; }
  int room_bits() const { return log2_ceiling(depth() + frame() + 1) + 1; }
};

std::int64_t Ring::depth() const {
  const std::int64_t reach = y().reach();
  const std::int64_t wanted =
      std::min(reach + stride_y, 2 * height + std::max<std::int64_t>(pad_y, 0)) * row();
  const std::int64_t span =
      fine() ? reach * row() + left() : std::max(reach, stride_y + pad_y) * row();
  const std::int64_t exact = std::max(wanted, span);
  const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(exact)));
  return 3 * rounded <= 4 * exact ? rounded : exact;
}

std::int64_t Ring::free_rows() const {
  return fine() ? out_y - 1 : std::min(out_y - 1, height / stride_y);
}

std::int64_t Ring::gap() const {
  const std::int64_t inside =
      (y().last() + y().reach() - 1 - pad_y) * row() + (x().last() + x().reach() - pad_x) * beats;
  return std::max({inside, frame() - (first_padded() ? 0 : lead()), depth() + left()});
}

/// A window with a ring. One step is a few integer operations.
class WindowHandshake final : public HandshakeOf<WindowHandshake> {
 public:
  /// `stages`: registers between the ring's address and the skid.
  WindowHandshake(const Ring& ring, std::int64_t blocks, int stages, Stages kept);
  bool ready(int) const override { return room_ >= 0; }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return pipe_.enable() && can_read() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(Moves taken, Moves given) override;
  bool operator==(const WindowHandshake&) const = default;

 private:
  static constexpr int loop_count = 6;  ///< c, kx, ky, block, ox, oy: innermost first
  bool pad() const;
  bool can_read() const;
  int advance();  ///< to the next beat; the innermost loop that went on, loop_count at the frame's
                  ///< end

  WindowGeometry shape_;
  bool padded_, first_padded_;
  std::int64_t lead_;
  std::array<std::int64_t, loop_count> size_, at_{};
  std::array<std::int64_t, loop_count + 1> step_, free_{};  ///< by the loop that goes on
  std::int64_t free_rows_;
  std::int64_t ahead_, room_;
  bool fresh_ = true;
  Pipe pipe_;
};

WindowHandshake::WindowHandshake(const Ring& ring, std::int64_t blocks, int stages, Stages kept)
    : shape_(ring),
      padded_(ring.padded()),
      first_padded_(ring.first_padded()),
      lead_(ring.lead()),
      free_rows_(ring.free_rows()),
      ahead_(lead_ - 1),
      room_(ring.depth() - (ring.fine() ? lead_ : ring.pad_y * ring.row()) - 1),
      pipe_(stages, kept) {
  const std::int64_t block = ring.beats / blocks, row = ring.row();
  size_ = {block, ring.kernel_x, ring.kernel_y, blocks, ring.out_x, ring.out_y};
  // Distance of consecutive iterations of each loop; stepping it takes back the loops inside.
  const std::array<std::int64_t, loop_count> pitch = {
      1,     ring.dilation_x * ring.beats, ring.dilation_y * row,
      block, ring.stride_x * ring.beats,   ring.stride_y * row};
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < loop_count; ++i) {
    step_[i] = pitch[i] - inside;
    inside += (size_[i] - 1) * pitch[i];
  }
  step_[loop_count] = ring.frame() - inside;
  free_[4] = ring.fine() ? ring.stride_x * ring.beats : 0;
  free_[5] = ring.stride_y * row - (ring.out_x - 1) * free_[4];
  free_[loop_count] = ring.frame() - free_rows_ * ring.stride_y * row - (ring.out_x - 1) * free_[4];
}

bool WindowHandshake::pad() const {
  const std::int64_t y = at_[5] * shape_.stride_y - shape_.pad_y + at_[2] * shape_.dilation_y;
  const std::int64_t x = at_[4] * shape_.stride_x - shape_.pad_x + at_[1] * shape_.dilation_x;
  return y < 0 || y >= shape_.height || x < 0 || x >= shape_.width;
}

bool WindowHandshake::can_read() const {
  if (first_padded_ && fresh_) return ahead_ >= lead_;
  return ahead_ >= 0 || (padded_ && pad());
}

int WindowHandshake::advance() {
  for (int i = 0; i < loop_count; ++i) {
    auto& at = at_[static_cast<std::size_t>(i)];
    if (++at < size_[static_cast<std::size_t>(i)]) return i;
    at = 0;
  }
  return loop_count;
}

void WindowHandshake::clock(Moves taken, Moves given) {
  const bool take = taken[0] != 0;
  const bool issue = can_read() && pipe_.enable();
  pipe_.step(issue, given[0] != 0);
  ahead_ += take;
  room_ -= take;
  if (!issue) return;
  const bool frees_row = at_[5] < free_rows_;
  const auto loop = static_cast<std::size_t>(advance());
  ahead_ -= step_[loop];
  if (loop != 5 || frees_row) room_ += free_[loop];
  fresh_ = loop == loop_count;
}

/// A window of one pixel: drops what lies between the strides.
class WindowPickHandshake final : public HandshakeOf<WindowPickHandshake> {
 public:
  explicit WindowPickHandshake(const WindowGeometry& shape) : shape_(shape) {}
  bool ready(int) const override { return skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  std::int64_t quiet() const override { return forever; }
  void clock(Moves taken, Moves given) override;
  bool operator==(const WindowPickHandshake&) const = default;

 private:
  WindowGeometry shape_;
  std::int64_t c_ = 0, x_ = 0, y_ = 0;
  Skid skid_;
};

bool passes_pixel(const integer::Axis& axis, std::int64_t place) {
  const std::int64_t at = place + axis.pad;
  return at >= 0 && at % axis.stride == 0 && at <= axis.last();
}

void WindowPickHandshake::clock(Moves taken, Moves given) {
  const bool take = taken[0] != 0;
  const bool keep = passes_pixel(shape_.x(), x_) && passes_pixel(shape_.y(), y_);
  skid_.step(take && keep, given[0] != 0);
  if (!take || ++c_ < shape_.beats) return;
  c_ = 0;
  if (++x_ < shape_.width) return;
  x_ = 0;
  if (++y_ == shape_.height) y_ = 0;
}

Cost pick_cost(const Ring& ring, std::int64_t width) {
  Cost cost = skid_cost(width);
  const bool all = ring.y().passes() && ring.x().passes();
  if (!all)
    cost += counters_cost(
        std::array{ring.row(), ring.height, ring.stride_x * ring.beats, ring.stride_y});
  return cost;
}

/// The two signed distances and the two addresses of the ring.
Cost flow_cost(const Ring& ring) {
  const std::int64_t address = log2_ceiling(ring.depth()), gap = ring.gap_bits(),
                     room = ring.room_bits();
  const bool wraps = ring.wraps();
  Cost cost;
  cost.lut = fitted.distance_bit * static_cast<double>(gap + room) +
             fitted.ring_address_bit * static_cast<double>(wraps ? address : 3 * address);
  cost.ff = static_cast<double>(gap + room + 2 * address);
  cost.carry = carry_chain(gap + 1) + carry_chain(room + 1) + 2 * carry_chain(address) +
               (wraps ? 0.0 : carry_chain(address + 1));
  return cost;
}

}  // namespace

std::unique_ptr<Handshake> WindowModule::handshake(Stages kept) const {
  const Ring ring(*this);
  if (ring.picks()) return std::make_unique<WindowPickHandshake>(*this);
  const int stages = window_in_block.holds(lanes * bits, ring.depth()) ? 2 : 1;
  return std::make_unique<WindowHandshake>(ring, blocks, stages, kept);
}

Cost WindowModule::cost(const Design&) const {
  const Ring ring(*this);
  const std::int64_t beat = lanes * bits;
  if (ring.picks()) return pick_cost(ring, beat);
  Cost cost = skid_cost(beat);
  cost += window_memory_cost(beat, ring.depth());
  cost += flow_cost(ring);
  cost += counters_cost(std::array{beats / blocks, kernel_x, kernel_y, blocks, out_x, out_y},
                        fitted.window_counter_bit);
  cost.lut += ring.padded() ? fitted.padded_window : fitted.window;
  // What depends on the place is in registers, and so are words of block memories.
  cost.ff += ring.padded() ? 17 : 15;
  if (window_in_block.holds(beat, ring.depth())) cost.ff += static_cast<double>(beat);
  return cost;
}

Paths WindowModule::paths(const Technology& technology) const {
  const Ring ring(*this);
  if (ring.picks()) {
    Path place = counter_path(ring.row(), technology);
    place.luts += 1;
    return {place};
  }
  const std::int64_t depth = ring.depth(), address = log2_ceiling(depth), beat = lanes * bits,
                     room = ring.room_bits();
  const Path flow{.what = "room",
                  .luts = 2,
                  .chains = 1,
                  .carry = static_cast<double>(room),
                  .readers = static_cast<double>(2 * room + 4 * address)};
  const Path place{.what = "address",
                   .luts = ring.wraps() ? 1.0 : 2.0,
                   .chains = 1,
                   .carry = static_cast<double>(address),
                   .readers = static_cast<double>(address)};
  const std::int64_t loops = log2_ceiling(beats / blocks) + log2_ceiling(kernel_x) +
                             log2_ceiling(kernel_y) + log2_ceiling(blocks) + log2_ceiling(out_x) +
                             log2_ceiling(out_y);
  const Path ends{.what = "ends of the loops",
                  .luts = 1 + tree_luts(loops, technology),
                  .readers = static_cast<double>(room + address)};
  return {flow, place, ends,
          memory_path(beat, depth, window_in_block.holds(beat, depth), technology)};
}

ModuleRow WindowModule::row() {
  return row_of_module<WindowModule>(
      {.folder = "window",
       .doc = "sliding window, a beat a cycle",
       .uses = {"mase_skid", "mase_window_memory", "mase_window_pick"},
       .inputs = {"in"},
       .outputs = {"out"}});
}

bool window_needed(const integer::Window& window) {
  return !window.y.passes() || !window.x.passes();
}

StreamId add_window(StepBuilder& builder, StreamId in, const integer::Window& window,
                    std::int64_t blocks, Wide pad) {
  Stream out = window_stream(builder.stream(in), builder.name(), window);
  const int bits = out.type.width;
  const WindowModule module{window_geometry(window, window.channels / out.lanes), blocks, out.lanes,
                            bits, plain_code(pad, bits)};
  return builder.add(module, "_window", {in}, std::move(out));
}

}  // namespace mase::design
