// SPDX-License-Identifier: Apache-2.0
// `mase emit`, alias `emit-verilog`.
#include "hardware/emit/passes.hpp"
#include "mase/cli.hpp"

namespace mase::cli {
namespace {

/// Adds a flag whose value becomes an option of a pass; without it the pass's default holds.
template <class T>
CLI::Option* add_pass_option(CLI::App& command, const std::string& flag, Tree& options,
                             const std::string& key, const std::string& help) {
  return command.add_option_function<T>(
      flag, [&options, key](const T& value) { options[key] = value; }, help);
}

void add_target_options(CLI::App& command, driver::EmitRequest& request) {
  add_pass_option<std::int64_t>(command, "--initiation-interval,--ii", request.target,
                                "initiation_interval", "maximum number of cycles between frames")
      ->type_name("CYCLES");
  for (const char* limit : {"lut", "dsp", "bram"})
    add_pass_option<double>(command, std::string("--") + limit, request.target, limit,
                            std::string("be as fast as possible with at most N ") + limit)
        ->type_name("N");
  add_pass_option<std::string>(command, "--multiplier", request.target, "multiplier",
                               "kind of multiplier: auto, dsp or fabric [auto]")
      ->type_name("KIND");
}

void add_reload_options(CLI::App& command, driver::EmitRequest& request) {
  command.add_flag_callback(
      "--reloadable", [&request] { request.target["reloadable"] = true; },
      "let a host replace the weights over AXI4-Lite");
  command
      .add_option("--reload-image", request.reload_image,
                  "write only the model's weights, for existing reloadable hardware")
      ->type_name("FILE");
}

}  // namespace

void add_emit(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("emit", "write a checkpoint as SystemVerilog with a C++ test bench");
  command->alias("emit-verilog");
  auto request = std::make_shared<driver::EmitRequest>();
  auto texts = std::make_shared<SettingTexts>();
  add_settings(*command, *request, texts);
  add_allow_external(*command, *request);
  add_allowed_operators(*command);
  add_target_options(*command, *request);
  auto output = std::make_shared<SettingTexts>();
  add_fields(*command, describe_fields<emit::EmitPassOptions>(), output,
             "Output (also keys of the passes that emit)");
  command
      ->add_option("--synth", request->synthesis,
                   "count resources with Yosys for xc7, ice40 or ecp5 [xc7]")
      ->type_name("FAMILY")
      ->expected(0, 1)
      ->default_str("xc7");
  command->add_flag("--per-instance", request->per_instance,
                    "with --synth: also count every instance by itself");
  command
      ->add_option("--place", request->placement,
                   "place and route with nextpnr for ecp5 or ice40, and print the clock reached "
                   "[ecp5]")
      ->type_name("FAMILY")
      ->expected(0, 1)
      ->default_str("ecp5");
  command
      ->add_option("--vivado", request->vivado,
                   "implement with Vivado: core, or axi for the core in its wrapper [core]")
      ->type_name("TOP")
      ->expected(0, 1)
      ->default_str("core");
  add_reload_options(*command, *request);
  command->footer(
      "Examples:\n"
      "  mase emit mase_output/jsc --ii 64");
  command->callback([request, texts, output, &action] {
    request->settings = settings_from(*texts);
    request->output = fields_from(describe_fields<emit::EmitPassOptions>(), *output);
    action = [request] { return driver::emit(*request); };
  });
}

}  // namespace mase::cli
