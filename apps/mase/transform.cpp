// SPDX-License-Identifier: Apache-2.0
// `mase transform`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_transform(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("transform", "run the passes of a configuration on a model");
  auto request = std::make_shared<driver::TransformRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  command->get_option("--verbose")->group("Options");  // few other commands run passes
  add_model_input(*command, request->input);
  command->add_flag("!--no-verify-each", request->verify_each,
                    "do not verify the graph after each pass");
  command->add_flag("--timing", request->timing, "print how long each pass took");
  auto dump = std::make_shared<std::vector<std::string>>();
  command->add_option("--dump-after", *dump, "write the graph as text to DIR after PASS (or all)")
      ->type_name("PASS DIR")
      ->expected(2);
  CLI::Option* numerics = command->add_option(
      "--check-numerics", request->check_numerics,
      "run the example inputs before and after each pass; fail if the results differ by more than "
      "the pass declares plus ATOL");
  numerics->type_name("ATOL")->expected(0, 1)->default_str("0");
  command->add_flag("--dry-run", request->dry_run, "check everything without running anything");
  command->add_flag("--overwrite", request->overwrite,
                    "replace a result that the project has from other settings");
  command
      ->add_option("--export", request->export_path,
                   "write the result as a .onnx, .pt2 or .pt file, too, or as FOLDER/")
      ->type_name("FILE");
  add_processes(*command, request->nproc, request->timeout,
                "processes of this machine that share what is learned from data; the result is "
                "that of one");
  add_onnx_formats(*command, "--export-format", request->onnx);
  for (const char* option :
       {"--export-format", "--allow-loss", "--max-shard-size", "--source", "--timeout"})
    command->get_option(option)->group(std::string(further) + "Options");
  command->footer(
      "Examples:\n"
      "  mase transform --config configs/examples/jsc_toy_by_type.toml\n"
      "  mase transform model.pt --input x.npy --config quantize.toml --timing\n"
      "  mase transform jsc-tiny jsc --config quantize.toml --dump-after all dumps");
  command->callback([request, texts, dump, &action] {
    request->settings = settings_from(*texts);
    if (!dump->empty()) {
      request->dump_after = {dump->front()};
      request->dump_folder = dump->back();
    }
    action = [request] { return driver::transform(*request); };
  });
}

}  // namespace mase::cli
