// SPDX-License-Identifier: Apache-2.0
// Entropy calibration: how far quantizing moves the distribution of single values.
#pragma once

#include "formats/format.hpp"
#include "passes/statistics/histogram.hpp"

namespace mase::passes {

/// Kullback-Leibler divergence sum p log(p / q), in nats, of two distributions over the bins of a
/// histogram. p: the counts, those of saturating bins moved to the outermost bins that do not
/// saturate. q: the counts without the saturating ones; the bins whose centers become the same
/// value share their mass evenly, bins that are empty in p left out. So resolution lost costs by
/// the unevenness inside a step, and range lost by the lump at the edge. A bin that q misses is
/// counted with q = 2^-40. Infinite when every value saturates.
double divergence(const Histogram& histogram, const formats::Format& format);

}  // namespace mase::passes
