// SPDX-License-Identifier: Apache-2.0
// `mase search`.
#include "driver/launch/launch.hpp"
#include "mase/cli.hpp"
#include "search/options.hpp"

namespace mase::cli {
namespace {

/// Declares the options of workers that are started in other places.
void add_launch(CLI::App& command, driver::SearchRequest& request,
                const std::shared_ptr<SettingTexts>& texts) {
  const std::string group = "Workers";
  add_fields(command, describe_fields<driver::LaunchOptions>(), texts, group);
  command.get_option("--launch")->type_name(driver::launch_forms());
  command.add_flag("--print", request.print, "print the commands of --launch, and start nothing")
      ->group(further + group)
      ->needs("--launch");
}

}  // namespace

void add_search(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("search", "search number formats or architectures in a resumable study");
  auto request = std::make_shared<driver::SearchRequest>();
  auto texts = std::make_shared<SettingTexts>();
  auto setup = std::make_shared<SettingTexts>(), launch = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_model_input(*command, request->input);
  // Most searches measure; the settings of those that train stand aside.
  for (const char* flag :
       {"--training-optimizer", "--learning-rate", "--schedule", "--max-epochs", "--early-stop"})
    command->get_option(flag)->group(std::string(further) + "Settings (for trials that train)");
  add_fields(*command, describe_fields<search::Setup>(), setup,
             "Search (also keys of [search.strategy.setup])");
  command->add_flag("--dry-run", request->dry_run, "check everything and show the space only");
  command
      ->add_flag("--trials-only", request->trials_only,
                 "run trials for another process, and write no results")
      ->group(std::string(further) + "Options");
  add_launch(*command, *request, launch);
  command->footer(
      "Examples:\n"
      "  mase search --config configs/examples/jsc_toy_by_type.toml --load best.pt\n"
      "  mase search --config search.toml --sampler bruteforce --project try2\n"
      "  mase search --config search.toml --n-trials 500 --launch local:4    # continues the "
      "study\n"
      "  mase search --config search.toml --storage postgresql://user@host/db  # on every host");
  command->callback([request, texts, setup, launch, &action] {
    request->settings = settings_from(*texts);
    request->setup = fields_from(describe_fields<search::Setup>(), *setup);
    request->launch = fields_from(describe_fields<driver::LaunchOptions>(), *launch);
    action = [request] { return driver::search(*request); };
  });
}

}  // namespace mase::cli
