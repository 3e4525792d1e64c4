// SPDX-License-Identifier: Apache-2.0
// Integer grids channel by channel.
#include "formats/fixed/channel_fractions.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "formats/common.hpp"
#include "formats/encoding.hpp"
#include "formats/fixed/integer_spans.hpp"

namespace mase::formats {
namespace {

/// Calls see(spec, first, count) for the elements of every channel.
template <class See>
void for_each_channel(const ChannelGrid& grid, std::size_t elements, const See& see) {
  const std::size_t size = elements / grid.frac_widths.size();
  for (std::size_t channel = 0; channel < grid.frac_widths.size(); ++channel)
    see(grid.of(channel), channel * size, size);
}

}  // namespace

void ChannelFields::check_channels(const Tree& given, Rounding rounding,
                                   Diagnostics& diagnostics) const {
  if (!channel_frac_width.empty() && !by_channel())
    diagnostics.error(place_of(given, calibrated_by_channel),
                      "'channel_frac_width' gives fraction bits to every channel; it needs "
                      "granularity = \"channel\"");
  if (by_channel() && rounding == Rounding::stochastic)
    diagnostics.error(place_of(given, "rounding"),
                      "rounding 'stochastic' has one grid for a tensor; use granularity = "
                      "\"tensor\" or another rounding");
}

void ChannelFields::check_channel_shape(const Shape& shape) const {
  if (!by_channel()) return;
  if (shape.empty()) config_error("a single number has no channels; use granularity = \"tensor\"");
  const auto channels = static_cast<std::int64_t>(channel_frac_width.size());
  if (channels != 0 && shape.front() != channels)
    config_error("fraction bits of " + std::to_string(channels) + " channels for a tensor " +
                 shape_text(shape) + " of " + std::to_string(shape.front()) +
                 "; calibrate it anew (pass calibrate)");
}

double ChannelFields::channel_bits(const Shape& shape) const {
  const std::int64_t elements = numel(shape);
  if (!by_channel() || elements == 0) return 0;
  return 8.0 * static_cast<double>(shape.front()) / static_cast<double>(elements);
}

IntegerSpec ChannelGrid::of(std::size_t channel) const {
  IntegerSpec own = spec;
  own.frac_width = frac_widths[channel];
  return own;
}

void quantize_channels(const ChannelGrid& grid, std::span<const float> in, std::span<float> out) {
  for_each_channel(grid, in.size(),
                   [&](const IntegerSpec& spec, std::size_t first, std::size_t count) {
                     quantize_integer(spec, in.subspan(first, count), out.subspan(first, count));
                   });
}

Encoded encode_channels(const ChannelGrid& grid, std::span<const float> in) {
  CodePacker packer(grid.spec.width, in.size());
  std::vector<std::uint32_t> codes(in.size() / grid.frac_widths.size());
  for_each_channel(grid, in.size(), [&](const IntegerSpec& spec, std::size_t first, std::size_t) {
    integer_codes(spec, in, first, codes);
    packer.append(codes);
  });
  return {packer.finish(), {}, {}};
}

void decode_channels(const ChannelGrid& grid, const Encoded& in, std::span<float> out) {
  check_codes(in.codes, grid.spec.width, out.size());
  std::vector<std::uint32_t> codes(out.size() / grid.frac_widths.size());
  for_each_channel(grid, out.size(),
                   [&](const IntegerSpec& spec, std::size_t first, std::size_t count) {
                     in.codes.unpack(first, codes);
                     integer_values(spec, codes, out.subspan(first, count));
                   });
}

void channels_saturate(const ChannelGrid& grid, std::span<const float> in,
                       std::span<std::uint8_t> mask) {
  for_each_channel(
      grid, in.size(), [&](const IntegerSpec& spec, std::size_t first, std::size_t count) {
        const double low = spec.low() * spec.step(), high = spec.high() * spec.step();
        std::ranges::transform(
            in.subspan(first, count), mask.subspan(first, count).begin(),
            [&](float x) { return static_cast<std::uint8_t>(x < low || x > high ? 1 : 0); });
      });
}

}  // namespace mase::formats
