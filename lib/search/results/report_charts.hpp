// SPDX-License-Identifier: Apache-2.0
// The charts on the page of a study, as HTML figures with inline SVG.
#pragma once

#include <string>

#include "search/results/result.hpp"

namespace mase::search {

/// For each objective, the metric of every completed trial by number, and the best so far.
std::string history_figures(const StudyResult& result);
/// A chart for every pair of the first three objectives; "" if there is only one objective.
std::string pareto_figures(const StudyResult& result);
/// For each objective, the most important parameters.
std::string importance_figures(const StudyResult& result);
/// The choices of the leading trials, with a row per trial and a column per dimension.
std::string choices_figure(const StudyResult& result);
/// Parallel coordinates: a line per completed trial through its parameters and objectives, the best
/// drawn on top; "" if there are no completed trials.
std::string parallel_figure(const StudyResult& result);
/// When each worker ran which trial; "" if no trial has this information.
std::string workers_figure(const StudyResult& result);
/// The bits of every port in the leading trial's model and in the float model; "" if they are not
/// known.
std::string bits_figure(const StudyResult& result);

}  // namespace mase::search
