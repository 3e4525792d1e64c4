// SPDX-License-Identifier: Apache-2.0
// What a quantized folder has for a tensor, beside the definition over whole tensors.
#include "driver/folder_values.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "base/narrowed.hpp"
#include "base/random.hpp"
#include "driver/settled_format.hpp"
#include "ir/text.hpp"
#include "support/format_samples.hpp"

namespace mase {
namespace {

using formats::Format;

Array numbers(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(numel(shape)));
  for (float& value : values)
    value = static_cast<float>(std::ldexp(random.normal(), static_cast<int>(random.below(6)) - 3));
  return Array::from(values, shape);
}

Array whole_quantized(const Format& format, const Array& value) {
  Array out(DType::float32, value.shape());
  format.quantize(value.span<float>(), out.mutable_span<float>(), value.shape());
  return out;
}

bool whole_codes_agree(const Format& format, const Array& a, const Array& b) {
  try {
    const formats::Encoded first = format.encode(a.span<float>(), a.shape());
    const formats::Encoded second = format.encode(b.span<float>(), b.shape());
    return first.codes == second.codes && first.shared == second.shared &&
           std::ranges::equal(first.scales, second.scales);
  } catch (const Error&) {
    return true;
  }
}

/// The quantized tensor if each reader gets the same values and codes from it as from the tensor.
std::optional<Array> definition(const ir::TensorReaders& readers, const Format& format,
                                const Array& value) try {
  const Array out = whole_quantized(format, value);
  for (const auto& [first, count] : readers.parts) {
    const bool all = value.shape().empty() || count == value.shape().front();
    const Array before = all ? value : value.rows(first, count);
    const Array after = all ? out : out.rows(first, count);
    if (!after.same_bits(whole_quantized(format, before)) ||
        !after.same_bits(whole_quantized(format, after)) ||
        !whole_codes_agree(format, before, after))
      return std::nullopt;
  }
  return out;
} catch (const Error&) {  // not a shape of the format
  return std::nullopt;
}

Array by_pieces(const Format& format, const Array& value, std::int64_t elements) {
  const formats::Pieces pieces(format, value.shape(), elements);
  std::vector<float> all;
  pieces.for_each(value, [&](const formats::Piece& piece, const Array& part) {
    const Array made = whole_quantized(pieces.format_of(format, piece), part);
    all.insert(all.end(), made.span<float>().begin(), made.span<float>().end());
  });
  return Array::from(all, value.shape());
}

Array as_bfloat16(const Array& value) {
  Array out(DType::bfloat16, value.shape());
  for (std::size_t i = 0; i < value.span<float>().size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(value.span<float>()[i]);
    const auto high = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(out.mutable_bytes() + 2 * i, &high, sizeof high);
  }
  return out;
}

}  // namespace

TEST_CASE("a tensor settles in a format exactly if its readers see no difference") {
  std::vector<std::string> texts = test::format_samples();
  for (const char* more :
       {"nvfp4(tensor_scale=none)", "nvfp4(tensor_scale=0.001)", "mxint8(block_dim=0)",
        "mxint8(block_dim=0, block_size=4)", "scale_integer(8, rounding=floor)",
        "mxfp8_e4m3(rounding=floor, scale_rule=even)", "binary(bipolar=false, scaled=true)",
        "block_fp(8, 8, block_size=[3, 5], skip_first_dim=false)",
        "block_fp(8, 8, skip_first_dim=false)", "block_log(8, 8, skip_first_dim=false)",
        "block_minifloat(8, 4, 8, skip_first_dim=false)", "block_fp(8, 8, profile=reference)",
        "mxint8(profile=reference)"})
    texts.emplace_back(more);
  const std::vector<std::set<std::pair<std::int64_t, std::int64_t>>> readings{
      {{0, 36}}, {{0, 12}, {12, 12}, {24, 12}}, {{0, 36}, {5, 7}}, {{0, 35}, {35, 1}}};
  int settled = 0, moved = 0;
  for (const std::string& text : texts)
    for (const Shape& shape : {Shape{36, 19}, Shape{36, 64}, Shape{36}, Shape{36, 3, 4}})
      for (const auto& parts : readings) {
        const Format format = formats::parse_format(text).deterministic();
        const Array value = as_bfloat16(numbers(shape, 5));
        ir::TensorReaders readers;
        readers.format = format;
        readers.parts = parts;
        const auto wanted = definition(readers, format, value.to_float32());
        (wanted ? settled : moved) += 1;
        for (const std::int64_t elements : {1, 100, 1000000}) {
          CAPTURE(text, shape_text(shape), parts.size(), elements);
          const auto found = driver::settled_format(readers, format, value, elements);
          REQUIRE(found.has_value() == wanted.has_value());
          if (found) CHECK(by_pieces(*found, value, elements).same_bits(*wanted));
        }
      }
  CHECK(settled > 100);
  CHECK(moved > 100);
}

TEST_CASE("a folder has the quantized values of a tensor in blocks of rows") {
  const Shape shape{1100, 1003};  // several pieces, of blocks that end within a row
  ir::Graph graph = ir::parse(
      "graph \"one\" {\n"
      "  module fc : torch.nn.modules.linear.Linear = aten::linear() [weight=@fc.weight]\n"
      "  tensor fc.weight : float32[1100, 1003] parameter grad\n"
      "  %x : float32[1, 1003] = placeholder x\n"
      "  %fc : float32[1, 1100] = call_module fc aten::linear(input=%x)\n"
      "  %output : float32[1, 1100] = output output(value=%fc)\n"
      "}\n",
      "one");
  const Array stored = as_bfloat16(numbers(shape, 6));
  graph.tensors.at("fc.weight").value = Array::widened(stored);
  for (const std::string text : {"mxint8", "mxint8(block_dim=0)", "nvfp4(tensor_scale=none)",
                                 "block_fp(8, 8, skip_first_dim=false)",
                                 "block_fp(8, 8, block_size=[-1, 7], skip_first_dim=false)",
                                 "mxint8(block_dim=0, block_size=2000)"}) {
    CAPTURE(text);
    const Format format = formats::parse_format(text);
    graph.node(graph.find_node("fc")->id).formats.insert_or_assign("weight", format);
    driver::FolderValues values(graph);
    std::vector<std::byte> bytes;
    CHECK(values.write("fc.weight", DType::float32, [&](const std::byte* from, std::size_t count) {
      bytes.insert(bytes.end(), from, from + count);
    }));
    const Array wanted = whole_quantized(format, stored.to_float32());
    REQUIRE(bytes.size() == wanted.byte_size());
    CHECK(std::memcmp(bytes.data(), wanted.bytes(), bytes.size()) == 0);
    for (const DType dtype : {DType::bfloat16, DType::float16}) {
      std::vector<std::byte> narrow(static_cast<std::size_t>(wanted.size()) * size_of(dtype));
      bytes.clear();
      const bool exact = narrowed(wanted.span<float>(), dtype, narrow.data());
      CHECK(values.write("fc.weight", dtype, [&](const std::byte* from, std::size_t count) {
        bytes.insert(bytes.end(), from, from + count);
      }) == exact);
      if (exact) CHECK(bytes == narrow);
    }
    CHECK(values.quantized() == 3);
    CHECK(values.kept().empty());
  }
}

}  // namespace mase
