// SPDX-License-Identifier: Apache-2.0
// `mase report`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_report(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("report", "one page of what a project has: curves, tables");
  auto request = std::make_shared<driver::ReportRequest>();
  command->add_option("project", request->project, "folder of the project")
      ->required()
      ->type_name("FOLDER");
  command->add_option("-o,--output", request->output, "file [FOLDER/report.html]")
      ->type_name("FILE");
  command->add_flag("--overwrite", request->overwrite, "replace a file that the command reads");
  command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->footer(
      "Example:\n"
      "  mase report mase_output/quickstart\n"
      "The page has what train, transform, emit, simulate and test of that project have found; it "
      "opens offline.");
  command->callback(
      [request, &action] { action = [request] { return driver::report(*request); }; });
}

}  // namespace mase::cli
