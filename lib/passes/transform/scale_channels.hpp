// SPDX-License-Identifier: Apache-2.0
// Makes the hidden layers of a network, and everything between them, wider or narrower.
#pragma once

#include "passes/pass.hpp"

namespace mase::passes {

/// Multiplies the output channels of each linear and convolution layer by a factor. Norms,
/// depthwise and grouped convolutions (their groups), flattens, concatenations and the layers that
/// read the channels follow. Layers whose channels meet, as in a residual sum, form a group with
/// one factor (`channel_groups` lists them). Channels of inputs and of the output never change.
///
/// Options: `factor` for every layer that may change, and a table `layers` with a factor per node
/// name. width * factor must be a whole number of at least 1.
/// `weights` = "inherit": a wider layer keeps its channels and copies them in turn, the most
/// important ones first when not all can be copied; copies share the weights that read them (Chen
/// et al., "Net2Net", ICLR 2016). The function stays the same up to rounding, at powers of two up
/// to the order of sums; layer norms and rms norms keep it at whole factors only. `noise`
/// multiplies the weights of copies by 1 + noise * n, n standard normal, so that training can tell
/// them apart. A narrower layer keeps the channels with the largest L1 norm of the weights that
/// make them, summed over the layers of the group.
/// `weights` = "random": the layers concerned get the initial weights of torch.nn, norms ones and
/// zeros. Formats stay on the nodes; hardware metadata is dropped.
///
/// Error(Fault::config) for unknown nodes, layers that must not change, disagreeing factors and
/// widths that are not whole; Error(Fault::unsupported) names every node through which channels
/// cannot be followed. Both come before anything changes.
struct ScaleChannels {
  static constexpr PassDoc doc{"scale_channels", PassKind::transform,
                               "Scale the widths of hidden linear and convolution layers.",
                               std::numeric_limits<double>::infinity()};
  struct Options {
    double factor = 1.0;
    std::string weights = "inherit";
    double noise = 0.0;
    std::int64_t seed = 0;
    static constexpr auto fields() {
      return std::tuple{
          Field{"factor", &Options::factor, "new width over old width of every hidden layer"}
              .between(0, 65536),
          Field{"weights", &Options::weights, "keep the channels' weights, or start with new ones"}
              .one_of("inherit", "random"),
          Field{"noise", &Options::noise, "relative noise on the weights of copied channels"}
              .between(0, 1),
          Field{"seed", &Options::seed, "seed of random weights and noise"}.at_least(0)};
    }
  };
  static void check(const Tree& options, Diagnostics& diagnostics);
  static Tree resolve(const Tree& options);
  static Result run(ir::Graph& graph, const Tree& options, PassContext& context);
};

}  // namespace mase::passes
