// SPDX-License-Identifier: Apache-2.0
// The format `binary_residual`: sums of signed planes (formats.md, section 2).
#pragma once

#include <string>
#include <vector>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/low_bit/binary_residual_scalar.hpp"

namespace mase::formats {

/// L planes of one bit. Each is the sign of the residual that the planes before it leave, times the
/// plane's mean. The value of an element is the sum of its planes: a layer computes sum_l w *
/// plane_l, which is w times that sum, and a format keeps the shape of its tensor.
/// binary_residual_planes gives the planes themselves, stacked as in the reference system. A code
/// has a bit per plane, 1 for plus. In profile `reference` a residual of exactly 0 gives 0, which a
/// bit cannot hold: its code is that of plus.
struct BinaryResidual : ProfileFields, Defined<BinaryResidual> {
  static constexpr FormatDoc doc{"binary_residual", "Sums of signed planes, one bit each.", 1};
  int levels = 1;
  std::vector<double> means;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"levels", &BinaryResidual::levels, "number of planes"}.between(1, 8),
                   Field{"means", &BinaryResidual::means,
                         "magnitude of each plane; empty: (levels, ..., 1) over their sum"}
                       .between(-3e37, 3e37)},
        profile_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  ResidualSpec spec() const;

  double bits_per_element(const Shape&) const override { return levels; }
  Range range() const override;
  void quantize(std::span<const float> in, std::span<float> out, const Shape& shape) const override;
  Encoded encode(std::span<const float> in, const Shape& shape) const override;
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override;
  std::int64_t rows_together(const Shape&) const override { return 0; }
  std::string torchscript(int rank) const override;
  std::optional<Decoding> decoding(const Shape& shape) const override;
};

/// The planes of a tensor one after another: `out` has spec.means.size() times the elements of
/// `in`.
void binary_residual_planes(const ResidualSpec& spec, std::span<const float> in,
                            std::span<float> out);

}  // namespace mase::formats
