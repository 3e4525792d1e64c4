// SPDX-License-Identifier: Apache-2.0
// The format `nvfp4`: floats of 4 bits in blocks of 16 with an 8-bit float scale, and one scale for
// the whole tensor (formats.md, section 3).
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "formats/common.hpp"
#include "formats/definition.hpp"
#include "formats/microscaling/nvfp4_spans.hpp"

namespace mase::formats {

/// The field `tensor_scale`: a number, "NA" (computed from the tensor) or "none" (one level).
struct Nvfp4TensorScale {
  bool two_levels = true;
  std::optional<double> value;

  bool read_field(const Tree& tree, std::string_view key, const FieldRules& rules,
                  Diagnostics& diagnostics);
  Tree write_field() const;
  static std::string field_type() { return "number or \"none\""; }
};

/// Elements e2m1, blocks scaled by e4m3fn, tensors by a float32 t.
struct Nvfp4 : CommonFields, Defined<Nvfp4> {
  static constexpr FormatDoc doc{
      "nvfp4", "Blocks of 4-bit floats with 8-bit float scales and a scale for the tensor.", 0};
  static constexpr std::string_view calibrated = "tensor_scale";
  int block_size = 16;
  int block_dim = -1;
  Nvfp4TensorScale tensor_scale;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{Field{"block_size", &Nvfp4::block_size,
                         "elements that share a scale; the last block of a line may be short"}
                       .at_least(1),
                   Field{"block_dim", &Nvfp4::block_dim,
                         "dimension along which blocks lie; negative: from the end"},
                   Field{"tensor_scale", &Nvfp4::tensor_scale,
                         "scale of the whole tensor; NA: its largest magnitude / 2688; none: "
                         "blocks have scales only"}
                       .between(nvfp4_smallest_scale, nvfp4_largest_scale)},
        common_fields());
  }
  void resolve(const Tree& given, Diagnostics& diagnostics) override;
  Nvfp4Spec spec() const;
  MxBlocks blocks(const Shape& shape) const { return line_blocks(shape, block_size, block_dim); }
  void check(const Shape& shape) const override { static_cast<void>(blocks(shape)); }
  double bits_per_element(const Shape& shape) const override {
    return nvfp4_bits(spec(), blocks(shape));
  }
  /// The range under the largest scales; a computed tensor scale is limited by float32 only.
  Range range() const override;
  void quantize(std::span<const float> in, std::span<float> out,
                const Shape& shape) const override {
    quantize_nvfp4(spec(), blocks(shape), in, out);
  }
  Encoded encode(std::span<const float> in, const Shape& shape) const override {
    return encode_nvfp4(spec(), blocks(shape), in);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override {
    decode_nvfp4(spec(), blocks(shape), in, out);
  }
  std::int64_t rows_together(const Shape& shape) const override {
    if (shape.empty() || scale_follows()) return FormatDefinition::rows_together(shape);
    return blocks(shape).tiling.rows_together(shape.front());
  }
  std::shared_ptr<const FormatDefinition> of_peak(float largest) const override;
  std::optional<Decoding> decoding(const Shape& shape) const override {
    return nvfp4_decoding(spec(), blocks(shape));
  }
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override {
    saturates_nvfp4(spec(), blocks(shape), in, mask);
  }
  std::string torchscript(int rank) const override {
    return nvfp4_torchscript(spec(), block_size, block_dim, rank);
  }

 private:
  /// Whether the tensor's scale follows from the tensor.
  bool scale_follows() const { return tensor_scale.two_levels && !tensor_scale.value; }
};

}  // namespace mase::formats
