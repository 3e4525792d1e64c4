// SPDX-License-Identifier: Apache-2.0
// Integer grids with separate fraction bits for every channel, a slice of dimension 0 (formats.md,
// section 2).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/field.hpp"
#include "formats/fixed/integer_scalar.hpp"
#include "formats/format.hpp"

namespace mase::formats {

/// The fields of integer formats that say whether channels have separate fraction bits.
struct ChannelFields {
  std::string granularity = "tensor";
  std::vector<int> channel_frac_width;
  /// The field that holds one value of the calibrated field for each channel.
  static constexpr std::string_view calibrated_by_channel = "channel_frac_width";

  static constexpr auto channel_fields() {
    return std::tuple{
        Field{"granularity", &ChannelFields::granularity,
              "what shares fraction bits: the whole tensor, or each channel (index of dimension 0)"}
            .one_of("tensor", "channel"),
        Field{"channel_frac_width", &ChannelFields::channel_frac_width,
              "fraction bits of every channel; empty: frac_width, until calibration chooses them"}
            .between(-126, 126)
            .rare()};
  }
  bool by_channel() const { return granularity == "channel"; }
  /// Reports combinations that do not exist.
  void check_channels(const Tree& given, Rounding rounding, Diagnostics& diagnostics) const;
  /// Error(Fault::config) for tensors without channels, or with another number than of fractions.
  void check_channel_shape(const Shape& shape) const;
  /// The bits that the fractions add to an element, given one byte for every channel.
  double channel_bits(const Shape& shape) const;
};

/// A tensor in slices of equal size, one for each fraction width. All other parameters are those of
/// `spec`.
struct ChannelGrid {
  IntegerSpec spec;
  std::span<const int> frac_widths;

  IntegerSpec of(std::size_t channel) const;
};

// Like the functions of integer_spans.hpp, with each slice on the grid of its channel.
void quantize_channels(const ChannelGrid& grid, std::span<const float> in, std::span<float> out);
Encoded encode_channels(const ChannelGrid& grid, std::span<const float> in);
void decode_channels(const ChannelGrid& grid, const Encoded& in, std::span<float> out);
/// mask[i] = 1 when in[i] lies beyond the range of its channel.
void channels_saturate(const ChannelGrid& grid, std::span<const float> in,
                       std::span<std::uint8_t> mask);
/// The TorchScript body for tensors of this rank, which is at least 1.
std::string channels_torchscript(const ChannelGrid& grid, int rank);

}  // namespace mase::formats
