// SPDX-License-Identifier: Apache-2.0
// `mase study`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_study(CLI::App& app, Action& action) {
  using driver::StudyAction;
  CLI::App* command = app.add_subcommand("study", "list, show or export studies in a database");
  auto request = std::make_shared<driver::StudyRequest>();
  const std::map<std::string, StudyAction> actions{{"list", StudyAction::list},
                                                   {"show", StudyAction::show},
                                                   {"export", StudyAction::write},
                                                   {"delete", StudyAction::remove}};
  command->add_option("action", request->action, "list, show, export or delete")
      ->type_name("ACTION")
      ->transform(CLI::CheckedTransformer(actions));
  command->add_option("name", request->name, "name of the study; optional if there is only one")
      ->type_name("NAME");
  command
      ->add_option("--storage", request->storage,
                   "FILE, sqlite:///FILE or postgresql://...; show: also s3://...")
      ->required()
      ->type_name("URL");
  command->add_option("-o,--output", request->output, "export: .csv or .json file [stdout]")
      ->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "replace a file that the command reads");
  command->add_option("--most", request->most, "show: maximum number of trials [10]")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Examples:\n"
      "  mase study list --storage mase_output/mixed/software/search/study.db\n"
      "  mase study show mixed --storage postgresql://user@host/db\n"
      "  mase study export mixed --storage study.db -o trials.csv\n"
      "Studies written by Optuna can be read too. A read-only database will do, except to delete.");
  command->callback([request, &action] { action = [request] { return driver::study(*request); }; });
}

}  // namespace mase::cli
