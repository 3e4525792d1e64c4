// SPDX-License-Identifier: Apache-2.0
// The charts of a study's page, each as HTML figures with inline SVG.
#pragma once

#include <string>

#include "search/results/result.hpp"

namespace mase::search {

/// Per objective the metric of every completed trial by number, and the best so far.
std::string history_figures(const StudyResult& result);
/// Every pair of the first three objectives; "" with one objective.
std::string pareto_figures(const StudyResult& result);
/// Per objective the parameters that decide most.
std::string importance_figures(const StudyResult& result);
/// What the leading trials chose: a row per trial, a column per dimension.
std::string choices_figure(const StudyResult& result);
/// A line per completed trial through its parameters and objectives, the best above the others; ""
/// without such trials.
std::string parallel_figure(const StudyResult& result);
/// Who worked on which trial when; "" where no trial says so.
std::string workers_figure(const StudyResult& result);
/// Bits of every port of the leading trial's model beside those of the float model; "" where they
/// are not known.
std::string bits_figure(const StudyResult& result);

}  // namespace mase::search
