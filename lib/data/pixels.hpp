// SPDX-License-Identifier: Apache-2.0
// Pixels stay bytes in memory, and become float32 when rows are gathered.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "base/field.hpp"

namespace mase::data {

struct DataOptions;

/// An option that is one number, or a number for each channel; empty if it is not set ("NA").
struct ChannelNumbers {
  std::vector<double> numbers{};

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type() { return "number or list of numbers"; }
  bool is_set() const { return !numbers.empty(); }
};

/// What the bytes of uint8 rows become: (byte * scale - mean) / std. The product is rounded to
/// float32 once, and the other two steps are those of float32. With the scale 1/255 this is
/// ToTensor and Normalize of torchvision, bit by bit.
class PixelTable {
 public:
  /// The numbers themselves, 0 to 255.
  PixelTable() : PixelTable(1.0, {0.0}, {1.0}) {}
  /// `means` and `deviations` have one number, or as many as there are channels.
  PixelTable(double scale, const std::vector<double>& means, const std::vector<double>& deviations);

  /// Converts one row, whose channels lie one after the other.
  void convert(std::span<const std::uint8_t> row, float* out) const;
  std::span<const float> numbers() const { return numbers_; }

 private:
  std::vector<float> numbers_;  ///< 256 for each channel, or 256 for all
};

/// The names of the options that a PixelTable is made of.
const std::vector<std::string>& pixel_options();
/// Those that are set, as "pixel_mean and pixel_std"; "" if none is.
std::string given_pixel_options(const DataOptions& options);

/// The table that the options describe for pixels [rows, channels, ...]. The scale is 1/255 unless
/// it is set. `origin` is for messages. Error(Fault::config) for another number of channels and
/// for a deviation that is not above 0; a warning for a mean outside of the scaled pixels.
PixelTable pixel_table(const DataOptions& options, const Shape& pixels, const std::string& origin);

}  // namespace mase::data
