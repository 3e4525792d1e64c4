// SPDX-License-Identifier: Apache-2.0
// The text of a number format, and the format that it names.
#include <array>
#include <optional>

#include "formats/format.hpp"
#include "fuzz/support.hpp"
#include "fuzz/targets.hpp"

namespace mase::fuzz {
namespace {

constexpr std::array<float, 16> values{0.0f,    -1.0f,  0.3f,   1e-30f, -7.5f,  1e30f,
                                       0.0625f, 2.0f,   -0.75f, 96.0f,  -1e-3f, 5.5f,
                                       -128.0f, 0.011f, 1.0f,   3e4f};

/// What the codes of some values stand for is what fake quantization gives.
void compare(const formats::Format& format, const Shape& shape) {
  std::array<float, values.size()> quantized{}, decoded{};
  format.quantize(values, quantized, shape);
  format.decode(format.encode(values, shape), decoded, shape);
  for (std::size_t i = 0; i < values.size(); ++i)
    MASE_CHECK(quantized[i] == decoded[i] || quantized[i] != quantized[i],
               format.text() + ": codes and values differ");
}

}  // namespace

void format(std::string_view bytes) {
  std::optional<formats::Format> format;
  if (!accepts([&] { format = formats::parse_format(bytes); })) return;
  const std::string text = format->text();
  MASE_CHECK(formats::parse_format(text).text() == text, "a format reads back as something else");
  format->range();
  const Shape shape{2, 8};
  accepts([&] { format->bits_per_element(shape); });
  accepts([&] { format->torchscript(2); });
  accepts([&] { compare(*format, shape); });
}

}  // namespace mase::fuzz
