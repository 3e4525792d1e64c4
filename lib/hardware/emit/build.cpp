// SPDX-License-Identifier: Apache-2.0
// The Verilator command line and the cache of its results.
#include "hardware/emit/build.hpp"

#include <chrono>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "hardware/emit/process.hpp"
#include "hardware/emit/scripts.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> sources_of(const std::string& folder) {
  std::vector<std::string> sources;
  for (const std::string& line : split(read_file(folder + "/filelist.f"), '\n'))
    if (!trim(line).empty()) sources.emplace_back(trim(line));
  return sources;
}

std::vector<std::string> flags_of(const BuildOptions& options) {
  std::vector<std::string> flags = split(bench_build, ' ');
  for (const std::string& word : split(bench_model, ' ')) flags.push_back(word);
  std::string make = "-s " + bench_makeflags(options.optimise);
  if (program_exists("ccache")) make += " OBJCACHE=ccache";
  flags.insert(flags.end(), {"-CFLAGS", bench_cflags(options.optimise), "-MAKEFLAGS", make});
  if (options.trace) flags.emplace_back("--trace-fst");
  if (options.coverage) flags.emplace_back("--coverage");
  return flags;
}

/// Memory images are read when the bench runs, so they are no part of it.
std::string hash_of(const std::string& folder, const std::vector<std::string>& sources,
                    const std::vector<std::string>& flags) {
  std::string text = join(flags, "\n");
  std::vector<std::string> files = sources;
  files.emplace_back("sim/bench_top.sv");
  for (const char* name : bench_sources) files.push_back(std::string("sim/") + name);
  for (const std::string& file : files)
    text += "\n" + file + " " + sha256(read_file(folder + "/" + file));
  return sha256(text).substr(0, 16);
}

}  // namespace

Build build_bench(const std::string& folder, const BuildOptions& options) {
  const std::vector<std::string> sources = sources_of(folder), flags = flags_of(options);
  const std::string sim = fs::absolute(folder).string() + "/sim";
  const std::string name = "obj_" + hash_of(folder, sources, flags);
  Build build{sim + "/" + name + "/bench", false, 0};
  if (file_exists(build.program)) return build;
  const std::string temporary = name + ".part" + unique_suffix();
  std::vector<std::string> command = {"verilator"};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"--Mdir", temporary, "-o", "bench"});
  for (const std::string& source : sources) command.push_back("../" + source);
  command.emplace_back("bench_top.sv");
  command.emplace_back(bench_source);
  const auto start = std::chrono::steady_clock::now();
  std::error_code error;
  try {
    run_checked(command, {sim, 3600, {}}, "building the bench with Verilator");
    fs::rename(sim + "/" + temporary, sim + "/" + name, error);
    if (error && !file_exists(build.program))
      file_error("cannot keep the built bench in '" + sim + "': " + error.message());
  } catch (...) {
    fs::remove_all(sim + "/" + temporary, error);
    throw;
  }
  fs::remove_all(sim + "/" + temporary, error);
  build.built = true;
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return build;
}

}  // namespace mase::emit
