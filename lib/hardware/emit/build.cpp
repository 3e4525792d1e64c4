// SPDX-License-Identifier: Apache-2.0
// Verilator's command lines, and the names of what they make in the user's cache.
#include "hardware/emit/build.hpp"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/package/scripts.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

constexpr double build_seconds = 3600;
constexpr const char* bench_file = "/bench";
constexpr const char* model_file = "/model";

/// What is built: files as they lie in an emitted folder, and Verilator's arguments in its `sim`.
struct Recipe {
  Files files;
  std::vector<std::string> arguments;
};

/// What reads the environment on the way: make and what it includes, the compiler, Verilator.
constexpr const char* variables[] = {"MAKEFLAGS",      "CXXFLAGS",       "CPPFLAGS",
                                     "LDFLAGS",        "LDLIBS",         "VPATH",
                                     "CPATH",          "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
                                     "LIBRARY_PATH",   "COMPILER_PATH",  "GCC_EXEC_PREFIX",
                                     "VERILATOR_ROOT", "VERILATOR_BIN"};
/// The programs that turn sources into a bench; `verilator` is a script around the second.
constexpr const char* tools[] = {"verilator", "verilator_bin", "g++", "make", "ld"};

/// Which file a program is, of which size and date: another version has others.
std::string identity(const std::string& program) {
  const std::string path = program_path(program);
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return program + " -";
  return path + " " + std::to_string(info.st_size) + " " + std::to_string(info.st_mtim.tv_sec) +
         "." + std::to_string(info.st_mtim.tv_nsec);
}

std::string name_of(const std::string& kind, const Recipe& recipe) {
  std::string text = kind + "\n" + join(recipe.arguments, "\n");
  for (const char* tool : tools) text += "\n" + identity(tool);
  for (const char* variable : variables)
    if (const char* value = std::getenv(variable))
      text += std::string("\n") + variable + "=" + value;
  for (const auto& [file, content] : recipe.files) text += "\n" + file + " " + sha256(content);
  return kind + "-" + sha256(text).substr(0, 32);
}

/// A hash of what Verilator wrote: C++ that differs is another model.
std::string hash_of_model(const std::string& folder) {
  Files sources;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("V") && (name.ends_with(".cpp") || name.ends_with(".h")))
      sources[name] = sha256(read_file(entry.path().string()));
  }
  std::string all;
  for (const auto& [name, hash] : sources) all += name + hash;
  return sha256(all);
}

/// Leaves the program and the hash of its model in `folder`.
void fill(const std::string& folder, const Recipe& recipe) {
  constexpr const char* objects = "obj";
  const std::string work = folder + "/work";
  write_files(work, recipe.files);
  std::vector<std::string> command = {"verilator"};
  command.insert(command.end(), recipe.arguments.begin(), recipe.arguments.end());
  command.insert(command.end(), {"--Mdir", objects, "-o", "bench"});
  run_checked(command, {work + "/sim", build_seconds, {}}, "building the bench with Verilator");
  const std::string made = work + "/sim/" + objects;
  write_file(folder + model_file, hash_of_model(made));
  write_file(folder + bench_file, read_file(made + bench_file));
  std::error_code error;
  fs::permissions(folder + bench_file, fs::perms::owner_all, error);
  if (error) file_error("cannot keep a build in '" + folder + "': " + error.message());
  fs::remove_all(work, error);
}

Build build(const std::string& kind, const Recipe& recipe) {
  const auto start = std::chrono::steady_clock::now();
  Build build;
  build.kept = BuildCache::of_user().get(name_of(kind, recipe),
                                         [&](const std::string& folder) { fill(folder, recipe); });
  build.program = build.kept.folder + bench_file;
  build.model = read_file(build.kept.folder + model_file);
  build.built = build.kept.built;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (build.built) build.seconds = passed.count();
  return build;
}

void add(std::vector<std::string>& words, const std::string& more) {
  for (std::string& word : split(more, ' ')) words.push_back(std::move(word));
}

/// Reads the sources that a list names, and adds them to the arguments.
void add_sources(const std::string& folder, const std::string& list, Recipe& recipe) {
  for (const std::string& line : split(read_file(folder + "/" + list), '\n')) {
    const std::string name(trim(line));
    if (name.empty()) continue;
    if (!stays_inside(name))
      file_error(folder + "/" + list + ": '" + name + "' is outside of the folder");
    recipe.files[name] = read_file(folder + "/" + name);
    recipe.arguments.push_back("../" + name);
  }
}

void add_files(const std::string& folder, const std::vector<std::string>& names, Recipe& recipe) {
  for (const std::string& name : names) recipe.files[name] = read_file(folder + "/" + name);
}

std::string with_cache(const std::string& makeflags) {
  return makeflags + (program_exists("ccache") ? " OBJCACHE=ccache" : "");
}

}  // namespace

Build build_bench(const std::string& folder, const BuildOptions& options) {
  Recipe recipe;
  add(recipe.arguments, bench_build);
  add(recipe.arguments, bench_model);
  for (const std::string& word :
       {std::string("-CFLAGS"), bench_cflags(options.optimise), std::string("-MAKEFLAGS"),
        with_cache("-s " + bench_makeflags(options.optimise))})
    recipe.arguments.push_back(word);
  if (options.trace) recipe.arguments.emplace_back("--trace-fst");
  if (options.coverage) recipe.arguments.emplace_back("--coverage");
  add_sources(folder, "filelist.f", recipe);
  std::vector<std::string> files = {"sim/bench_top.sv"};
  for (const char* name : bench_sources) files.push_back(std::string("sim/") + name);
  add_files(folder, files, recipe);
  recipe.arguments.emplace_back("bench_top.sv");
  recipe.arguments.emplace_back(bench_source);
  return build("bench", recipe);
}

Build build_axi_bench(const std::string& folder) {
  Recipe recipe;
  add(recipe.arguments, axi_build);
  for (const std::string& word : {std::string("-CFLAGS"), std::string(axi_cflags),
                                  std::string("-MAKEFLAGS"), with_cache(std::string("-s ") + here)})
    recipe.arguments.push_back(word);
  add_sources(folder, "filelist_axi.f", recipe);
  add_files(folder,
            {"sim/axi_bench_top.sv", "sim/axi_bench.cpp", "sim/streams.hpp", "host/host.h",
             "host/mase_host.h", "host/mase_host.c"},
            recipe);
  recipe.arguments.emplace_back("axi_bench_top.sv");
  add(recipe.arguments, axi_source);
  return build("axi", recipe);
}

}  // namespace mase::emit
