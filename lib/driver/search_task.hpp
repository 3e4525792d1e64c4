// SPDX-License-Identifier: Apache-2.0
// SearchTask holds the model, data and space of a search, and measures its trials.
#pragma once

#include <memory>

#include "driver/session.hpp"
#include "search/results/result.hpp"
#include "search/runners/measure.hpp"

namespace mase::driver {

/// A search as the command runs it: holds the prepared model and its space, and measures and saves
/// trials.
class SearchTask {
 public:
  /// Loads the model, runs the passes of [search.prepare], builds the space and measures the float
  /// model. All errors in the configuration are found here.
  SearchTask(Session& session, search::Options options, const ModelInput& input);

  const search::Options& options() const { return options_; }
  const search::SearchSpace& space() const { return *space_; }
  /// The model before any trial, after the passes of [search.prepare].
  const ir::Graph& graph() const { return model_.graph; }
  /// The rows that trials are evaluated on; nullptr if they are not evaluated on rows.
  const search::BasicEvaluation* evaluated_rows() const { return measurer_->rows(); }
  /// Metrics of the float model by name.
  const Tree& baseline() const { return baseline_; }
  /// The configuration that all workers of a study must share.
  Tree configuration() const;
  search::Plan plan(const std::string& url, const std::string& study) const;

  /// Measures a trial with these parameters. If `made` is given, it becomes the trial's model.
  search::Measured measure(const samplers::Params& params, const search::Report& report,
                           ir::Graph* made = nullptr) const;
  /// A configuration file that makes the model of a trial and measures it again.
  std::string transform_toml(const samplers::Params& params, const std::string& checkpoint) const;

 private:
  search::Bench bench();
  void give_data(passes::PassContext& context) const;
  void prepare();
  /// Error(Fault::config) if no configuration of the space can be built.
  void require_measured() const;
  void require_buildable() const;

  const Session& session_;
  search::Options options_;
  LoadedModel model_;
  std::shared_ptr<const ir::Graph> teacher_;  ///< null if none is given
  std::unique_ptr<search::SearchSpace> space_;
  std::unique_ptr<search::Measurer> measurer_;
  Tree baseline_ = Tree::dict();
};

/// The options of the file's [search] table, overridden by those of the command line.
search::Options search_options(const Session& session, const Tree& setup);

}  // namespace mase::driver
