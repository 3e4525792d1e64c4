// SPDX-License-Identifier: Apache-2.0
// `mase emit`, alias `emit-verilog`.
#include "hardware/emit/passes.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

/// A flag whose value becomes an option of a pass; absent flags leave the pass's own.
template <class T>
CLI::Option* add_pass_option(CLI::App& command, const std::string& flag, Tree& options,
                             const std::string& key, const std::string& help) {
  return command.add_option_function<T>(
      flag, [&options, key](const T& value) { options[key] = value; }, help);
}

void add_target_options(CLI::App& command, driver::EmitRequest& request) {
  add_pass_option<std::int64_t>(command, "--initiation-interval,--ii", request.target,
                                "initiation_interval", "cycles between frames, at most")
      ->type_name("CYCLES");
  for (const char* limit : {"lut", "dsp", "bram"})
    add_pass_option<double>(command, std::string("--") + limit, request.target, limit,
                            std::string("fit into so many ") + limit + ", as fast as that allows")
        ->type_name("N");
  add_pass_option<std::string>(command, "--multiplier", request.target, "multiplier",
                               "auto, dsp or fabric [auto]")
      ->type_name("KIND");
}

void add_reload_options(CLI::App& command, driver::EmitRequest& request) {
  command.add_flag_callback(
      "--reloadable", [&request] { request.target["reloadable"] = true; },
      "a host may replace the weights over AXI4-Lite");
  command
      .add_option("--reload-image", request.reload_image,
                  "write only the model's weights, for reloadable hardware that is there")
      ->type_name("FILE");
}

}  // namespace

void add_emit(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("emit", "SystemVerilog, memory images and a C++ bench of a checkpoint");
  command->alias("emit-verilog");
  auto request = std::make_shared<driver::EmitRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_allow_external(*command, *request);
  add_allowed_operators(*command);
  add_target_options(*command, *request);
  auto output = std::make_shared<SettingTexts>();
  add_fields(*command, describe_fields<emit::EmitPassOptions>(), output,
             "What is written (also keys of the passes that emit)");
  command
      ->add_option("--synth", request->synthesis,
                   "count resources with Yosys: xc7, ice40 or ecp5 [xc7]")
      ->type_name("FAMILY")
      ->expected(0, 1)
      ->default_str("xc7");
  command->add_flag("--per-instance", request->per_instance,
                    "with --synth: every instance by itself too");
  command
      ->add_option("--place", request->placement,
                   "place and route with nextpnr: the clock that is reached, for ecp5 or ice40 "
                   "[ecp5]")
      ->type_name("FAMILY")
      ->expected(0, 1)
      ->default_str("ecp5");
  command
      ->add_option("--vivado", request->vivado,
                   "what Vivado makes of it: core, or axi, with its wrapper [core]")
      ->type_name("TOP")
      ->expected(0, 1)
      ->default_str("core");
  add_reload_options(*command, *request);
  command->footer(
      "Examples:\n"
      "  mase emit graph_module.pt --ii 64 --project-dir mase_output --project jsc\n"
      "  mase emit graph_module.pt --config hardware.toml --json");
  command->callback([request, texts, output, &action] {
    request->settings = settings_from(*texts);
    request->output = fields_from(describe_fields<emit::EmitPassOptions>(), *output);
    action = [request] { return driver::emit(*request); };
  });
}

}  // namespace mase::cli
