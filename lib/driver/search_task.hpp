// SPDX-License-Identifier: Apache-2.0
// SearchTask: the model, data and space of a search, and how one trial is measured.
#pragma once

#include <memory>

#include "driver/session.hpp"
#include "search/results/result.hpp"
#include "search/runners/measure.hpp"

namespace mase::driver {

/// A search as the command runs it: the prepared model, its space, and how a trial is measured and
/// kept.
class SearchTask {
 public:
  /// Loads the model, runs the passes of [search.prepare], builds the space and measures the float
  /// model. Everything that can be wrong with the configuration is found here.
  SearchTask(Session& session, search::Options options, const ModelInput& input);

  const search::Options& options() const { return options_; }
  const search::SearchSpace& space() const { return *space_; }
  /// The model before any trial, passes of [search.prepare] applied.
  const ir::Graph& graph() const { return model_.graph; }
  /// The rows that trials are evaluated on; nullptr when they are not.
  const search::BasicEvaluation* evaluated_rows() const { return measurer_->rows(); }
  /// Metrics of the float model by name.
  const Tree& baseline() const { return baseline_; }
  /// What workers of one study agree on.
  Tree configuration() const;
  search::Plan plan(const std::string& url, const std::string& study) const;

  /// Measures the parameters; `made` becomes the model.
  search::Measured measure(const samplers::Params& params, const search::Report& report,
                           ir::Graph* made = nullptr) const;
  /// The configuration file that makes the model of a trial and measures it again.
  std::string transform_toml(const samplers::Params& params, const std::string& checkpoint) const;

 private:
  search::Bench bench();
  void give_data(passes::PassContext& context) const;
  void prepare();
  /// Error(Fault::config) for a space of which no configuration can be built.
  void require_buildable() const;

  const Session& session_;
  search::Options options_;
  LoadedModel model_;
  std::unique_ptr<search::SearchSpace> space_;
  std::unique_ptr<search::Measurer> measurer_;
  Tree baseline_ = Tree::dict();
};

/// The options of the file's [search] table with those of the command line on top.
search::Options search_options(const Session& session, const Tree& setup);

}  // namespace mase::driver
