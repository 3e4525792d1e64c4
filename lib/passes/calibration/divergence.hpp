// SPDX-License-Identifier: Apache-2.0
// Entropy calibration: how much quantization changes the distribution of single values.
#pragma once

#include "formats/format.hpp"
#include "passes/statistics/histogram.hpp"

namespace mase::passes {

/// Kullback-Leibler divergence sum p log(p / q), in nats, of two distributions over the bins of a
/// histogram. p: the counts; those of saturating bins move to the outermost bins that do not
/// saturate. q: the counts without saturating bins; bins whose centers become the same value share
/// their mass evenly, without the bins that are empty in p. So lost resolution costs as much as
/// counts differ within a step, and lost range as much as piles up at the edge. A bin that q misses
/// counts with q = 2^-40. Infinite when every value saturates.
double divergence(const Histogram& histogram, const formats::Format& format);

}  // namespace mase::passes
