// SPDX-License-Identifier: Apache-2.0
// The program: declares the subcommands, runs one, and turns errors into messages and exit codes.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>

#include "backend/backend.hpp"
#include "base/diagnostics.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/standard_output.hpp"
#include "driver/linked_checkpoint.hpp"
#include "driver/ranks.hpp"
#include "driver/version.hpp"
#include "mase/cli.hpp"
#include "onnx/model.hpp"
#include "safetensors/safetensors.hpp"
#include "sandbox/policy.hpp"

namespace {

/// Runs a part of the program, prints its error as a message, and returns the exit code.
int run_part(const std::function<int()>& part) {
  try {
    return part();
  } catch (const mase::DiagnosticsError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    mase::driver::tell_launcher(error.what());
    return error.exit_code();
  } catch (const mase::Error& error) {
    if (error.fault() == mase::Fault::interrupted)
      mase::log::warning(error.what());
    else
      mase::log::error(error.what());
    mase::driver::tell_launcher(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    mase::log::error(mase::out_of_memory());
    return static_cast<int>(mase::Fault::file);
  } catch (const std::filesystem::filesystem_error& error) {
    mase::log::error("'" + error.path1().string() + "': " + error.code().message());
    return static_cast<int>(mase::Fault::file);
  } catch (const std::exception& error) {
    mase::log::error(std::string("internal error: ") + error.what());
    return static_cast<int>(mase::Fault::internal);
  }
}

int run_command(CLI::App& app, const mase::cli::Action& action, int argc, char** argv) {
  const char* alone[] = {argv[0], "--help"};
  try {
    argc < 2 ? app.parse(2, alone) : app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return mase::cli::usage_exit(app, error);
  }
  mase::catch_interrupts();
  return action();
}

/// Checks that all output was printed. An error of the command takes precedence.
int with_printing_checked(int code) {
  if (code > static_cast<int>(mase::Fault::goal)) return code;
  return run_part([code] {
    mase::check_printed();
    return code;
  });
}

/// Files that a file of the command line brings with it.
std::vector<std::string> companions_of(const std::string& path) {
  std::vector<std::string> files = mase::onnx::external_files(path);
  for (std::string& file : mase::safetensors::files_beside_index(path))
    files.push_back(std::move(file));
  for (std::string& file : mase::driver::linked_files(path)) files.push_back(std::move(file));
  return files;
}

}  // namespace

// Only two options with the same name would throw, and they would do so on every start.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  mase::occupy_standard_streams();
  CLI::App app{"mase: from a PyTorch model to a quantized, bit-exactly verified checkpoint"};
  app.set_version_flag("-V,--version", "mase " + mase::driver::version());
  app.require_subcommand(1);
  app.formatter(mase::cli::help_formatter(false));
  app.footer(
      "Exit codes: 0 success, 1 a goal was not met, 2 configuration error, 3 file error, "
      "4 unsupported model, 5 internal error, 130 Ctrl-C.\nHelp on a command: mase help COMMAND");
  mase::cli::Action action;
  mase::cli::add_train(app, action);
  mase::cli::add_search(app, action);
  mase::cli::add_study(app, action);
  mase::cli::add_test(app, action);
  mase::cli::add_transform(app, action);
  mase::cli::add_emit(app, action);
  mase::cli::add_simulate(app, action);
  mase::cli::add_run(app, action);
  mase::cli::add_quantize(app, action);
  mase::cli::add_show(app, action);
  mase::cli::add_data(app, action);
  mase::cli::add_init(app, action);
  mase::cli::add_diff(app, action);
  mase::cli::add_report(app, action);
  mase::cli::add_export(app, action);
  mase::cli::add_convert(app, action);
  mase::cli::add_tokenize(app, action);
  mase::cli::add_list(app, action);
  mase::cli::add_doctor(app, action);
  mase::cli::add_help(app, action);
  mase::cli::add_completion(app, action);
  mase::cli::add_manual(app, action);
  mase::sandbox::find_companions_by(companions_of);
  for (int i = 1; i < argc; ++i) mase::sandbox::may_read_argument(argv[i]);
  const int code =
      with_printing_checked(run_part([&] { return run_command(app, action, argc, argv); }));
  // Unloading LibTorch takes longer than most commands, and there is nothing left to do.
  if (mase::backend::is_open() && std::fflush(nullptr) == 0) ::_exit(code);
  return code;
}
