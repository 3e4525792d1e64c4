// SPDX-License-Identifier: Apache-2.0
// The fields and functions that block_fp, block_minifloat and block_log share: the shape of blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/block/block_elements.hpp"
#include "formats/common.hpp"
#include "formats/definition.hpp"

namespace mase::formats {

/// The fields that cut a tensor into blocks (formats.md, section 3(a)).
struct BlockFields : CommonFields {
  std::vector<std::int64_t> block_size{16};
  std::optional<bool> skip_first_dim;
  std::optional<int> max_rank;

  static constexpr auto block_fields() {
    return std::tuple{
        Field{"block_size", &BlockFields::block_size,
              "elements of a block per dimension, for the last dimensions; -1 and missing leading "
              "entries: the whole dimension"}
            .at_least(-1),
        Field{"skip_first_dim", &BlockFields::skip_first_dim,
              "blocks have size 1 along dimension 0 (from rank 2); NA: as in the reference system"},
        Field{"max_rank", &BlockFields::max_rank,
              "leading dimensions are merged until the rank is at most this; NA: never"}
            .between(1, 16)};
  }

  /// Reports block sizes of 0 and what CommonFields reports.
  void check_block_fields(const Tree& given, Diagnostics& diagnostics) const;
  Tiling tiling(const Shape& shape, bool default_skip) const;
  /// Profile `reference`: Error(Fault::config) for shapes that the reference system refuses.
  void check_block_shape(const Shape& shape, bool default_skip) const;
  /// Profile `reference`: true when tiles at this rank are put back by adding to zeros.
  bool adds_zero(int rank, bool default_skip) const;
  /// The rank after leading dimensions are merged; scalars count as rank 1.
  int merged_rank(int rank) const;
};

/// The functions of the three formats, in terms of `elements()`, `default_skip` and
/// `torchscript_parts()` of the Derived format.
template <class Derived>
struct BlockFunctions : Defined<Derived> {
  double bits_per_element(const Shape& shape) const override {
    const auto elements = self().elements();
    const auto count = static_cast<double>(numel(shape));
    const double shared = elements.shared_bits() * static_cast<double>(tiles_of(shape).tiles());
    return elements.element_bits() + (count == 0.0 ? 0.0 : shared / count);
  }
  Range range() const override {
    const auto elements = self().elements();
    const double largest = elements.largest(elements.highest_exponent());
    return {-largest, largest};
  }
  void quantize(std::span<const float> in, std::span<float> out,
                const Shape& shape) const override {
    if (self().profile_value() == Profile::reference)
      quantize_block_reference(
          self().elements(), tiles_of(shape),
          self().adds_zero(static_cast<int>(shape.size()), Derived::default_skip), in, out);
    else
      quantize_block(self().elements(), tiles_of(shape), in, out);
  }
  DeviceQuantizer device_quantizer(const Shape& shape) const override {
    if (self().profile_value() == Profile::reference) return nullptr;
    return block_on_device(self().elements(), tiles_of(shape));
  }
  Encoded encode(std::span<const float> in, const Shape& shape) const override {
    refuse_reference();
    return encode_block(self().elements(), tiles_of(shape), in);
  }
  void decode(const Encoded& in, std::span<float> out, const Shape& shape) const override {
    refuse_reference();
    decode_block(self().elements(), tiles_of(shape), in, out);
  }
  std::int64_t rows_together(const Shape& shape) const override {
    if (shape.empty() || self().profile_value() == Profile::reference)
      return FormatDefinition::rows_together(shape);
    return tiles_of(shape).rows_together(shape.front());
  }
  std::optional<Decoding> decoding(const Shape& shape) const override {
    if (self().profile_value() == Profile::reference) return std::nullopt;
    return block_decoding(self().elements(), tiles_of(shape));
  }
  void saturates(std::span<const float> in, std::span<std::uint8_t> mask,
                 const Shape& shape) const override {
    block_saturation(self().elements(), tiles_of(shape), self().profile_value(), in, mask);
  }
  void check(const Shape& shape) const override {
    self().check_block_shape(shape, Derived::default_skip);
  }

 private:
  using Defined<Derived>::self;
  Tiling tiles_of(const Shape& shape) const { return self().tiling(shape, Derived::default_skip); }
  void refuse_reference() const {
    if (self().profile_value() == Profile::reference)
      unsupported_error("profile 'reference' of " + std::string(Derived::doc.name) +
                        " leaves values off its grid, so it has no codes; store tensors with "
                        "profile 'exact'");
  }
};

}  // namespace mase::formats
