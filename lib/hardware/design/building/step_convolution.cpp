// SPDX-License-Identifier: Apache-2.0
// Convolutions and depthwise convolutions as windows and matrices.
#include "hardware/design/building/step_convolution.hpp"

#include <algorithm>

#include "hardware/design/building/shared_exponents.hpp"
#include "hardware/design/building/step_matrix.hpp"
#include "hardware/design/modules/depthwise.hpp"
#include "hardware/design/modules/linear.hpp"
#include "hardware/design/modules/window.hpp"
#include "hardware/design/modules/window_parallel.hpp"

namespace mase::design {
namespace {

using integer::Convolution;
using integer::Window;

const Convolution& conv_of(const Step& step) { return std::get<Convolution>(step.operation); }

// Convolution: a window in front of the matrix, unless the kernel is a single pixel. A parallel
// window gives whole windows of one group after another, or of several groups side by side.

bool unfolds(const Window& window) {
  const auto fits = [](const integer::Axis& axis) { return axis.pad < axis.reach(); };
  return window_needed(window) && fits(window.y) && fits(window.x);
}

FoldRule conv_rule(const Program&, const Step& step, const Fold& fold) {
  const Convolution& conv = conv_of(step);
  const std::int64_t outputs = conv.outputs / conv.groups;
  if (conv.blocks) return {conv.blocks.length, outputs};  // a beat shares an exponent
  const bool can_unfold = unfolds(conv.window);
  if (!fold.parallel_window || !can_unfold) return {conv.taps(), outputs, false, can_unfold};
  if (conv.groups == 1) return {conv.columns(), outputs, false, true};
  // The channels of groups side by side lie between the taps of one.
  return {conv.columns(), conv.outputs, false, true, conv.taps(), outputs};
}

/// Groups of a parallel window whose windows it gives at once.
std::int64_t groups_at_once(const Convolution& conv, const Fold& fold) {
  return std::max<std::int64_t>(1, fold.out_lanes * conv.groups / conv.outputs);
}

std::int64_t conv_lanes(const Step& step, const Fold& fold, std::size_t port = 0) {
  const Convolution& conv = conv_of(step);
  if (port > 0) return 1;  // exponents
  return fold.parallel_window ? conv.taps() * groups_at_once(conv, fold) : fold.in_lanes;
}

std::int64_t conv_interval(const Program&, const Step& step, const Fold& fold) {
  const Convolution& conv = conv_of(step);
  const Window& window = conv.window;
  const std::int64_t beats = window.channels / conv_lanes(step, fold),
                     columns = conv.columns() / fold.in_lanes;
  if (fold.parallel_window) {
    const std::int64_t passes = conv.outputs / (beats * fold.out_lanes);
    return parallel_window_interval(window, beats, columns, passes);
  }
  return std::max(window.pixels() * beats,
                  window.places() * (conv.outputs / fold.out_lanes) * columns);
}

/// A window keeps whole rows, and waits at the end of each frame.
bool conv_bursts(const Program&, const Step& step, const Fold& fold) {
  const Convolution& conv = conv_of(step);
  return window_needed(conv.window) || fold.out_lanes < conv.outputs / conv.groups;
}

StreamId add_unfolded(StepBuilder& builder, StreamId in) {
  const Convolution& conv = conv_of(builder.step);
  const Fold& fold = builder.fold;
  const StreamId beats =
      builder.resize(add_parallel_window(builder, in, conv.window, 0),
                     fold.in_lanes * groups_at_once(conv, fold), builder.name() + "_window_resize");
  const bool whole_groups = fold.out_lanes % (conv.outputs / conv.groups) == 0;
  if (conv.groups == 1 || !whole_groups) return add_matrix(builder, beats);
  return add_groups(builder, fold.in_lanes / conv.taps(), beats);
}

/// Windows of beats with their exponents.
StreamId add_blocks(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const Convolution& conv = conv_of(builder.step);
  const StreamId beats = with_exponents(builder, inputs);
  if (!window_needed(conv.window)) return add_linear(builder, beats);
  Window window = conv.window;
  window.channels /= builder.fold.in_lanes;
  return add_linear(builder, add_window(builder, beats, window, conv.groups, 0));
}

StreamId add_convolution(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const Convolution& conv = conv_of(builder.step);
  if (conv.blocks) return add_blocks(builder, inputs);
  if (!window_needed(conv.window)) return add_matrix(builder, inputs[0]);
  if (builder.fold.parallel_window) return add_unfolded(builder, inputs[0]);
  return add_matrix(builder, add_window(builder, inputs[0], conv.window, conv.groups, 0));
}

// Depthwise convolution: every channel by itself. Without a parallel window it works lane by lane.

FoldRule depthwise_rule(const Program& program, const Step& step, const Fold& fold) {
  const Window& window = conv_of(step).window;
  if (fold.parallel_window) return conv_rule(program, step, fold);
  return {window.channels, window.channels, true, unfolds(window)};
}

std::int64_t depthwise_interval(const Program& program, const Step& step, const Fold& fold) {
  const Window& window = conv_of(step).window;
  if (fold.parallel_window) return conv_interval(program, step, fold);
  const std::int64_t blocks = window.channels / fold.in_lanes;
  return blocks * std::max(window.pixels(), window.places() * window.kernel());
}

StreamId add_depthwise(StepBuilder& builder, const std::vector<StreamId>& inputs) {
  const Window& window = conv_of(builder.step).window;
  if (builder.fold.parallel_window) return add_unfolded(builder, inputs[0]);
  if (!window_needed(window)) return add_groups(builder, 1, inputs[0]);
  const std::int64_t blocks = window.channels / builder.fold.in_lanes;
  return add_groups(builder, 1, add_window(builder, inputs[0], window, blocks, 0));
}

}  // namespace

StepRow convolution_step() {
  return {"convolution", conv_rule,       conv_lanes,      conv_interval,
          conv_bursts,   add_convolution, shared_products, true};
}

StepRow depthwise_step() {
  return {"depthwise", depthwise_rule, conv_lanes, depthwise_interval,
          conv_bursts, add_depthwise,  nullptr,    true};
}

}  // namespace mase::design
