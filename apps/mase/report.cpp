// SPDX-License-Identifier: Apache-2.0
// `mase report`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_report(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("report", "write a page with the results of a project");
  auto request = std::make_shared<driver::ReportRequest>();
  command->add_option("project", request->project, "folder of the project")
      ->required()
      ->type_name("FOLDER");
  command->add_option("-o,--output", request->output, "output file [FOLDER/report.html]")
      ->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "may replace a file that the command reads");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Example:\n"
      "  mase report mase_output/quickstart\n"
      "The page shows the results of train, transform, emit, simulate and test in that project. It "
      "opens offline.");
  command->callback(
      [request, &action] { action = [request] { return driver::report(*request); }; });
}

}  // namespace mase::cli
