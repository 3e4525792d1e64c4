// SPDX-License-Identifier: Apache-2.0
// `mase list` and `mase doctor`.
#include "base/text.hpp"
#include "mase/cli.hpp"

namespace mase::cli {

void add_list(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("list", "list " + join(driver::list_names(), ", "));
  auto request = std::make_shared<driver::ListRequest>();
  command->add_option("what", request->what, join(driver::list_names(), ", "))->type_name("WHAT");
  CLI::Option* name = command->add_option("name", request->name, "entry to show with its options")
                          ->type_name("NAME");
  CLI::Option* json =
      command->add_flag("--json", request->json, "print one JSON document to stdout");
  command->add_flag("--all", request->all,
                    "spell out every key of quantize's tables (50,000 lines)");
  command->add_flag("--markdown", request->markdown, "print the list as a page of docs/reference")
      ->excludes(name)
      ->excludes(json);
  command->footer("Examples:\n  mase list models\n  mase list passes quantize");
  command->callback([request, &action] { action = [request] { return driver::list(*request); }; });
}

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("doctor", "show what is installed and what is missing");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print one JSON document to stdout");
  command->callback([json, &action] { action = [json] { return driver::doctor(*json); }; });
}

}  // namespace mase::cli
