// SPDX-License-Identifier: Apache-2.0
// Packing of codes into hex words.
#include "hardware/design/building/memory_image.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "hardware/design/numbers.hpp"
#include "hardware/design/step_table.hpp"

namespace mase::design {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Collects bits from the low end and writes hex digits.
class HexWriter {
 public:
  explicit HexWriter(std::int64_t bits) : digits_(at((bits + 3) / 4), '0') {}

  void field(Wide code, int bits) {
    for (int done = 0; done < bits;) {
      const int offset = static_cast<int>(position_ % 4), take = std::min(4 - offset, bits - done);
      const auto part = static_cast<unsigned>(code >> done) & ((1U << take) - 1U);
      values_ |= part << offset;
      done += take;
      position_ += take;
      if (position_ % 4 == 0) flush();
    }
  }

  std::string text() {
    if (position_ % 4 != 0) flush();
    return std::move(digits_);
  }

 private:
  void flush() {
    const std::size_t from_low = at((position_ - 1) / 4);
    digits_[digits_.size() - 1 - from_low] = "0123456789abcdef"[values_];
    values_ = 0;
  }

  std::string digits_;
  std::int64_t position_ = 0;
  unsigned values_ = 0;
};

constexpr std::int64_t outside = -1;

/// The input beat of every output beat.
std::vector<std::int64_t> beats_of(const integer::Gather& gather, std::int64_t lanes) {
  std::vector<std::int64_t> beats;
  for (std::size_t i = 0; i < gather.places.size(); i += at(lanes))
    beats.push_back(gather.places[i] < 0 ? outside : gather.places[i] / lanes);
  return beats;
}

/// Whether every `run` beats from a multiple of it on follow each other, or are all outside.
bool runs_of(const std::vector<std::int64_t>& beats, std::int64_t run) {
  for (std::size_t i = 0; i < beats.size(); ++i) {
    const std::int64_t first = beats[i / at(run) * at(run)];
    const auto offset = static_cast<std::int64_t>(i) % run;
    if (beats[i] != (first == outside ? outside : first + offset)) return false;
  }
  return true;
}

std::int64_t longest_run(const std::vector<std::int64_t>& beats) {
  std::vector<std::int64_t> lengths = divisors(static_cast<std::int64_t>(beats.size()));
  while (!runs_of(beats, lengths.back())) lengths.pop_back();
  return lengths.back();
}

std::int64_t start_of(const std::vector<std::int64_t>& beats, std::int64_t input_beats) {
  std::int64_t start = 1, needed = 0;
  for (std::size_t i = 0; i < beats.size(); ++i) {
    needed = std::max(needed, beats[i] + 1);
    start = std::max(start, needed - static_cast<std::int64_t>(i));
  }
  return std::min(start, input_beats);
}

}  // namespace

std::string pack_word(std::span<const Wide> codes, int bits) {
  HexWriter writer(static_cast<std::int64_t>(codes.size()) * bits);
  for (Wide code : codes) writer.field(code, bits);
  return writer.text();
}

HexBits pack_bits(std::span<const Wide> codes, int bits) {
  return {pack_word(codes, bits), static_cast<std::int64_t>(codes.size()) * bits};
}

std::vector<std::string> matrix_words(std::span<const Wide> weights, const MatrixShape& shape,
                                      std::int64_t simd, std::int64_t pe, int bits) {
  return matrix_words(weights, {}, shape, simd, pe, bits, 0);
}

std::vector<std::string> matrix_words(std::span<const Wide> weights,
                                      std::span<const Wide> exponents, const MatrixShape& shape,
                                      std::int64_t simd, std::int64_t pe, int bits,
                                      int exponent_bits) {
  MASE_CHECK(static_cast<std::int64_t>(weights.size()) == shape.sets * shape.rows * shape.columns &&
                 shape.columns % simd == 0 && shape.rows % pe == 0,
             "a weight image does not fit its fold");
  std::vector<std::string> words;
  for (std::int64_t set = 0; set < shape.sets; ++set)
    for (std::int64_t row = 0; row < shape.rows; row += pe)
      for (std::int64_t column = 0; column < shape.columns; column += simd) {
        HexWriter writer(pe * (simd * bits + exponent_bits));
        const auto first = [&](std::int64_t p) {
          return (set * shape.rows + row + p) * shape.columns + column;
        };
        for (std::int64_t p = 0; p < pe; ++p)
          for (std::int64_t c = 0; c < simd; ++c) writer.field(weights[at(first(p) + c)], bits);
        for (std::int64_t p = 0; exponent_bits > 0 && p < pe; ++p)
          writer.field(exponents[at(first(p) / simd)], exponent_bits);
        words.push_back(writer.text());
      }
  return words;
}

std::vector<std::string> vector_words(std::span<const Wide> codes, std::int64_t lanes, int bits) {
  MASE_CHECK(codes.size() % at(lanes) == 0, "an image does not fit its lanes");
  std::vector<std::string> words;
  for (std::size_t i = 0; i < codes.size(); i += at(lanes))
    words.push_back(pack_word(codes.subspan(i, at(lanes)), bits));
  return words;
}

GatherImage gather_image(const integer::Gather& gather, std::int64_t lanes) {
  const std::int64_t beats = gather.period / lanes;
  const std::vector<std::int64_t> order = beats_of(gather, lanes);
  GatherImage image;
  image.run = longest_run(order);
  image.start = start_of(order, beats);
  image.pads = std::ranges::find(order, outside) != order.end();
  const int place_bits = std::max(1, log2_ceiling(beats));
  image.word_bits = place_bits + (image.pads ? 1 : 0);
  for (std::size_t i = 0; i < order.size(); i += at(image.run))
    image.words.push_back(order[i] == outside ? Wide{1} << place_bits : Wide{order[i]});
  return image;
}

}  // namespace mase::design
