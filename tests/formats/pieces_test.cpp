// SPDX-License-Identifier: Apache-2.0
// Each format does to the pieces of a tensor what it does to the tensor.
#include "formats/pieces.hpp"
#include "formats/strips.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "formats/scaled_support.hpp"
#include "support/format_samples.hpp"

using namespace mase;
using namespace mase::formats;

namespace {

/// Ordinary numbers of many magnitudes, with a few zeros.
Array numbers(const Shape& shape) {
  Random random(17);
  std::vector<float> values(static_cast<std::size_t>(numel(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 11 == 3 ? 0.0F
                            : static_cast<float>(std::ldexp(
                                  random.normal(), static_cast<int>(random.below(12)) - 6));
  return Array::from(values, shape);
}

struct Treated {
  std::vector<float> values, scales;
  std::vector<std::uint32_t> codes, shared;
  std::vector<std::uint8_t> beyond;

  /// Adds what the format does to one tensor. Shared codes are sorted, since blocks along another
  /// dimension than the last have theirs in an order of their own.
  void add(const Format& format, const Array& values_of) {
    const auto in = values_of.span<float>();
    const std::size_t before = values.size();
    values.resize(before + in.size());
    beyond.resize(before + in.size());
    format.quantize(in, std::span(values).subspan(before), values_of.shape());
    format.saturates(in, std::span(beyond).subspan(before), values_of.shape());
    try {
      const Encoded encoded = format.encode(in, values_of.shape());
      append(codes, encoded.codes.unpack());
      append(shared, encoded.shared.unpack());
      append(scales, encoded.scales);
    } catch (const Error&) {  // profile reference
    }
  }
  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  void sort() { std::ranges::sort(shared); }
};

bool accepts(const Format& format, const Shape& shape) {
  try {
    format.check(shape);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The format of the tensor, with a value of its own for each channel if it has such.
Format fitted(const Format& format, const Shape& shape) {
  if (!format.per_channel() || shape.empty()) return format;
  Tree fields = format.fields(), widths = Tree::list();
  for (std::int64_t i = 0; i < shape.front(); ++i) widths.push_back(i % 7);
  fields["channel_frac_width"] = widths;
  return format_of(format.name(), fields);
}

/// Returns how many pieces there were.
std::size_t compare(const Format& format, const Array& values, std::int64_t elements) {
  Treated whole, parts;
  whole.add(format, values);
  const auto peak = format.of_peak([&] {
    float most = 0;
    for (const float value : values.span<float>()) most = std::max(most, std::abs(value));
    return most;
  }());
  const Format given = peak.value_or(format);
  const Pieces pieces(given, values.shape(), elements);
  const Array flat = values.reshaped({values.size()});
  std::int64_t next = 0;
  for (std::size_t i = 0; i < pieces.count(); ++i) {
    const Piece piece = pieces.at(i);
    CHECK(piece.first == next);
    next = piece.end();
    parts.add(pieces.format_of(given, piece), piece.values(flat));
  }
  CHECK(next == values.size());
  whole.sort();
  parts.sort();
  CHECK(differences(whole.values, parts.values) == 0);
  CHECK(whole.codes == parts.codes);
  CHECK(whole.shared == parts.shared);
  CHECK(whole.beyond == parts.beyond);
  if (!peak && format.rows_together(values.shape()) > 0) CHECK(whole.scales == parts.scales);
  return pieces.count();
}

std::vector<std::string> sample_texts() {
  std::vector<std::string> texts = test::format_samples();
  for (const char* more :
       {"nvfp4(block_dim=0)", "nvfp4(tensor_scale=none, block_dim=0, block_size=5)",
        "mxint8(block_dim=0)", "mxint8(block_dim=0, block_size=4)", "mxint8(profile=mase)",
        "mxint_hardware(8, 8, parallelism=[2, 1])",
        "block_fp(8, 8, block_size=[3, 5], "
        "skip_first_dim=false)",
        "block_fp(8, 8, block_size=[4, 3], max_rank=2)",
        "block_fp(8, 8, block_size=[-1, 4], skip_first_dim=false)",
        "block_fp(8, 8, "
        "block_size=[6], max_rank=1)",
        "block_log(8, 8, block_size=[2, 7], "
        "skip_first_dim=false, max_rank=2)",
        "block_minifloat(8, 4, 8, profile=mase)", "binary(bipolar=false, profile=mase)",
        "ternary(scaling_factor=true, profile=mase)"})
    texts.emplace_back(more);
  return texts;
}

const std::vector<Shape>& sample_shapes() {
  static const std::vector<Shape> shapes{{},           {1},          {37},    {22, 19},
                                         {23, 64},     {1, 200},     {64, 1}, {6, 5, 33},
                                         {7, 4, 3, 3}, {10, 2, 2, 8}};
  return shapes;
}

template <class T>
void put_back(const Strips& strips, const std::vector<T>& part, std::size_t index,
              std::vector<T>& whole) {
  strips.put(std::as_bytes(std::span(part)), sizeof(T), index,
             reinterpret_cast<std::byte*>(whole.data()));
}

/// Returns how many strips there were.
std::size_t compare_strips(const Format& format, const Array& values, std::int64_t elements) {
  Treated whole, parts;
  whole.add(format, values);
  const Strips strips(format, values.shape(), elements);
  if (strips.count() == 1) return 1;
  parts.values.resize(whole.values.size());
  parts.beyond.resize(whole.beyond.size());
  parts.codes.resize(whole.codes.size());
  for (std::size_t i = 0; i < strips.count(); ++i) {
    Treated strip;
    strip.add(format, strips.take(values, i));
    put_back(strips, strip.values, i, parts.values);
    put_back(strips, strip.beyond, i, parts.beyond);
    put_back(strips, strip.codes, i, parts.codes);
    Treated::append(parts.shared, strip.shared);
  }
  whole.sort();
  parts.sort();
  CHECK(differences(whole.values, parts.values) == 0);
  CHECK(whole.codes == parts.codes);
  CHECK(whole.shared == parts.shared);
  CHECK(whole.beyond == parts.beyond);
  return strips.count();
}

}  // namespace

TEST_CASE("formats do to the pieces of a tensor what they do to the tensor") {
  for (const std::string& text : sample_texts())
    for (const Shape& shape : sample_shapes()) {
      const Format format = fitted(parse_format(text).deterministic(), shape);
      if (!accepts(format, shape)) continue;
      const Array values = numbers(shape);
      for (const std::int64_t elements : {1, 40, 100, 1000000}) {
        CAPTURE(text, shape_text(shape), elements);
        compare(format, values, elements);
      }
    }
}

TEST_CASE("formats do to the strips of a tensor what they do to the tensor") {
  std::size_t cut = 0;
  for (const std::string& text : sample_texts())
    for (const Shape& shape : sample_shapes()) {
      const Format format = fitted(parse_format(text).deterministic(), shape);
      if (!accepts(format, shape)) continue;
      const Array values = numbers(shape);
      for (const std::int64_t elements : {1, 40, 100, 300}) {
        CAPTURE(text, shape_text(shape), elements);
        if (compare_strips(format, values, elements) > 1) ++cut;
      }
    }
  CHECK(cut > 100);
}

TEST_CASE("strips have whole blocks, and few elements, where rows belong together") {
  const auto strips = [](const char* text, const Shape& shape, std::int64_t elements) {
    return Strips(parse_format(text), shape, elements).count();
  };
  const char* blocks = "block_fp(8, 8, skip_first_dim=false)";  // [all rows, 16]
  CHECK(strips(blocks, {10, 64}, 160) == 4);
  CHECK(strips(blocks, {10, 64}, 479) == 2);
  CHECK(strips(blocks, {10, 65}, 160) == 5);  // the last has one column
  CHECK(strips(blocks, {10, 64}, 640) == 1);
  CHECK(strips(blocks, {64}, 1) == 1);
  CHECK(strips(blocks, {10, 2, 3, 3}, 1) == 1);  // a block is the tensor
  CHECK(strips("block_fp(8, 8, skip_first_dim=false, max_rank=1)", {10, 64}, 1) == 1);
  CHECK(strips("mxint8", {10, 64}, 64) == 1);
  CHECK(strips("mxint8(block_dim=0)", {10, 64}, 100) == 7);
  CHECK(strips("nvfp4(block_dim=0)", {10, 64}, 100) == 1);  // its scale follows from the tensor
}

TEST_CASE("rows that belong together are those of a block") {
  const auto rows = [](const char* text, const Shape& shape) {
    return parse_format(text).rows_together(shape);
  };
  CHECK(rows("integer(8, 4)", {6, 4}) == 0);
  CHECK(rows("mxint8", {6, 4}) == 1);
  CHECK(rows("mxint8(block_dim=0)", {96, 4}) == 32);
  CHECK(rows("mxint8(block_dim=0)", {6, 4}) == 6);
  CHECK(rows("mxint8", {96}) == 32);
  CHECK(rows("block_fp(8, 8, block_size=[3, 5], skip_first_dim=false)", {9, 10}) == 3);
  CHECK(rows("block_fp(8, 8, block_size=[-1, 5], skip_first_dim=false)", {9, 10}) == 9);
  CHECK(rows("block_fp(8, 8, block_size=[4, 3], skip_first_dim=false, max_rank=2)", {9, 6, 10}) ==
        2);
  CHECK(rows("scale_integer(8)", {6, 4}) == 1);
  CHECK(rows("scale_integer(8)", {6}) == 6);
  CHECK(rows("nvfp4", {6, 4}) == 6);
  CHECK(rows("nvfp4(tensor_scale=0.5)", {6, 4}) == 1);
  CHECK(rows("mxint8(profile=reference)", {6, 32}) == 6);
}

TEST_CASE("a piece around elements has the rows that belong to them") {
  const Pieces pieces(parse_format("mxint8(block_dim=0, block_size=4)"), {10, 3}, 1);
  CHECK(pieces.count() == 3);
  CHECK(pieces.at(2).shape == Shape{2, 3});
  const Piece piece = pieces.around(13, 4);  // rows 4 and 5
  CHECK(piece.first == 12);
  CHECK(piece.shape == Shape{4, 3});
  CHECK(pieces.around(0, 30).shape == Shape{10, 3});
}
