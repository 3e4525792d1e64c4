// SPDX-License-Identifier: Apache-2.0
// `mase search`.
#include "mase/cli.hpp"
#include "search/options.hpp"

namespace mase::cli {

void add_search(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("search", "search number formats or architectures in a resumable study");
  auto request = std::make_shared<driver::SearchRequest>();
  auto texts = std::make_shared<SettingTexts>();
  auto setup = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_model_input(*command, request->input);
  // Most searches measure; the settings of those that train stand aside.
  for (const char* flag :
       {"--training-optimizer", "--learning-rate", "--schedule", "--max-epochs", "--early-stop"})
    command->get_option(flag)->group(std::string(further) + "Settings (for trials that train)");
  add_fields(*command, describe_fields<search::Setup>(), setup,
             "Search (also keys of [search.strategy.setup])");
  command->add_flag("--dry-run", request->dry_run, "check everything and show the space only");
  command->footer(
      "Examples:\n"
      "  mase search --config configs/examples/jsc_toy_by_type.toml --load best.pt\n"
      "  mase search --config search.toml --sampler bruteforce --project try2\n"
      "  mase search --config search.toml --n-trials 500 --n-jobs 8    # continues the study\n"
      "  mase search --config search.toml --storage postgresql://user@host/db  # on every host");
  command->callback([request, texts, setup, &action] {
    request->settings = settings_from(*texts);
    request->setup = fields_from(describe_fields<search::Setup>(), *setup);
    action = [request] { return driver::search(*request); };
  });
}

}  // namespace mase::cli
