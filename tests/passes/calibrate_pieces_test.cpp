// SPDX-License-Identifier: Apache-2.0
// Calibration reads a large tensor piece by piece, and has the sums over the whole tensor.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "formats/pieces.hpp"
#include "passes/calibration/score.hpp"

namespace mase {
namespace {

/// Numbers of several pieces, as bfloat16.
Array large_tensor(const Shape& shape) {
  REQUIRE(numel(shape) > formats::usual_piece);
  Random random(23);
  Array out(DType::bfloat16, shape);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(random.normal()));
    const auto high = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(out.mutable_bytes() + 2 * i, &high, sizeof high);
  }
  return out;
}

}  // namespace

TEST_CASE("the scores of a tensor in pieces are those of the whole tensor") {
  const Array stored = large_tensor({1031, 1033}), values = stored.to_float32();
  const auto exact = values.span<float>();
  for (const char* text : {"integer(4, 0)", "mxint4(block_dim=0)", "mxfp4", "nvfp4",
                           "block_fp(4, 4, block_size=[7, 5], skip_first_dim=false)"}) {
    const formats::Format format = formats::parse_format(text);
    passes::CalibrationOptions options;
    options.method = "mse";
    passes::PortScores scores(passes::candidates(format, 4.5), options);
    scores.add(stored);
    CHECK(scores.count() == stored.size());
    const std::vector<passes::Score> found = scores.scores();
    for (std::size_t c = 0; c < found.size(); c += 3) {
      const formats::Format& candidate = scores.candidates()[c].format;
      CAPTURE(candidate.text());
      std::vector<float> quantized(exact.size());
      std::vector<std::uint8_t> beyond(exact.size());
      candidate.quantize(exact, quantized, values.shape());
      candidate.saturates(exact, beyond, values.shape());
      double sum = 0;
      std::int64_t saturated = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const double error = double(quantized[i]) - double(exact[i]);
        sum += error * error;
        saturated += beyond[i];
      }
      CHECK(found[c].squared_error == sum);
      CHECK(found[c].saturated == saturated);
    }
  }
}

}  // namespace mase
