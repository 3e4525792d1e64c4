// SPDX-License-Identifier: Apache-2.0
// Sums over tensors for all candidates, and the rule of each method.
#include "passes/calibration/score.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "formats/pieces.hpp"
#include "passes/calibration/divergence.hpp"

namespace mase::passes {
namespace {

constexpr std::int64_t kl_bins = 2048;

/// `sum` and the squared errors, added one after another.
double with_squared_errors(double sum, std::span<const float> exact,
                           std::span<const float> quantized) {
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = double(quantized[i]) - double(exact[i]);
    sum += error * error;
  }
  return sum;
}

/// The pieces of a tensor that suit all formats, which are alike.
formats::Pieces pieces_for(const std::vector<formats::Format>& formats, const Shape& shape) {
  std::vector<formats::Pieces> pieces;
  for (const formats::Format& format : formats)
    pieces.emplace_back(format, shape, formats::usual_piece);
  return *std::ranges::max_element(pieces, {}, &formats::Pieces::most_elements);
}

/// True when the code of a value depends on other values, so that values share bits.
bool shares_bits(const formats::Format& format) {
  return format.bits_per_element({1}) != format.bits_per_element({4096});
}

/// The first index with the least cost; candidates are in the order of their reach.
std::size_t least(const std::vector<Score>& scores,
                  const std::function<double(const Score&)>& cost) {
  const auto found =
      std::min_element(scores.begin(), scores.end(),
                       [&](const Score& a, const Score& b) { return cost(a) < cost(b); });
  return static_cast<std::size_t>(found - scores.begin());
}

}  // namespace

std::size_t choose(const std::vector<Candidate>& candidates, const std::vector<Score>& scores,
                   std::int64_t count, const CalibrationOptions& options) {
  MASE_CHECK(!scores.empty() && candidates.size() == scores.size(), "scores without candidates");
  if (options.method == "mse") return least(scores, [](const Score& s) { return s.squared_error; });
  if (options.method == "kl") return least(scores, [](const Score& s) { return s.divergence; });
  const auto saturated = [](const Score& s) { return double(s.saturated); };
  const std::size_t fewest = least(scores, saturated);
  if (options.method == "minmax") return fewest;
  const double allowed = (100 - options.percentile) / 100 * double(count);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (double(scores[i].saturated) > allowed) continue;
    // Among candidates with equal reach (rules of a shared scale), the one that saturates least.
    std::size_t best = i;
    for (std::size_t j = i; j < scores.size() && candidates[j].reach == candidates[i].reach; ++j)
      if (scores[j].saturated < scores[best].saturated) best = j;
    return best;
  }
  return fewest;
}

PortScores::PortScores(SharedCandidates candidates, const CalibrationOptions& options)
    : candidates_(std::move(candidates)),
      errors_(options.method == "mse"),
      scores_(candidates_->size()) {
  if (options.method != "kl") return;
  if (shares_bits(candidates_->front().format))
    config_error("the method kl compares distributions of single values, but values of " +
                 candidates_->front().format.short_text() + " share bits; use mse");
  histogram_.emplace(kl_bins);
}

void PortScores::add(const Array& values) {
  count_ += values.size();
  std::vector<formats::Format> formats;
  for (const Candidate& candidate : *candidates_)
    formats.push_back(candidate.format.deterministic());
  std::vector<double> sums(formats.size());
  const formats::Pieces pieces = pieces_for(formats, values.shape());
  pieces.for_each(values, [&](const formats::Piece& piece, const Array& part) {
    const auto exact = part.span<float>();
    if (histogram_) histogram_->add(exact);
    std::vector<std::uint8_t> mask(exact.size());
    std::vector<float> quantized(errors_ ? exact.size() : 0);
    for (std::size_t c = 0; c < formats.size(); ++c) {
      formats[c].saturates(exact, mask, piece.shape);
      for (const std::uint8_t outside : mask) scores_[c].saturated += outside;
      if (!errors_) continue;
      formats[c].quantize(exact, quantized, piece.shape);
      sums[c] = with_squared_errors(sums[c], exact, quantized);
    }
  });
  for (std::size_t c = 0; c < sums.size(); ++c)
    scores_[c].squared_error +=
        std::isnan(sums[c]) ? std::numeric_limits<double>::infinity() : sums[c];
}

std::vector<Score> PortScores::scores() const {
  std::vector<Score> scores = scores_;
  for (std::size_t c = 0; histogram_ && c < scores.size(); ++c)
    scores[c].divergence = divergence(*histogram_, (*candidates_)[c].format.deterministic());
  return scores;
}

}  // namespace mase::passes
