// SPDX-License-Identifier: Apache-2.0
// `mase study`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_study(CLI::App& app, Action& action) {
  using driver::StudyAction;
  CLI::App* command = app.add_subcommand("study", "the studies of a database of searches");
  auto request = std::make_shared<driver::StudyRequest>();
  const std::map<std::string, StudyAction> actions{{"list", StudyAction::list},
                                                   {"show", StudyAction::show},
                                                   {"export", StudyAction::write},
                                                   {"delete", StudyAction::remove}};
  command->add_option("action", request->action, "list, show, export or delete")
      ->type_name("ACTION")
      ->transform(CLI::CheckedTransformer(actions));
  command->add_option("name", request->name, "a study; not needed where there is only one")
      ->type_name("NAME");
  command->add_option("--storage", request->storage, "file, sqlite:///FILE or postgresql://...")
      ->required()
      ->type_name("URL");
  command->add_option("-o,--output", request->output, "export: a .csv or .json file [stdout]")
      ->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "replace a file that the command reads");
  command->add_option("--most", request->most, "show: trials, at most [10]")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Examples:\n"
      "  mase study list --storage mase_output/mixed/software/search/study.db\n"
      "  mase study show mixed --storage postgresql://user@host/db\n"
      "  mase study export mixed --storage study.db -o trials.csv\n"
      "Studies that Optuna wrote are read alike; a database that may only be read will do.");
  command->callback([request, &action] { action = [request] { return driver::study(*request); }; });
}

}  // namespace mase::cli
