// SPDX-License-Identifier: Apache-2.0
// The emitted folder: which files it has, what is copied from the templates, and its writing.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/leftovers.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/writing_inside.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/package/scripts.hpp"
#include "hardware/emit/reload_image.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/text/beats.hpp"
#include "hardware/emit/text/sv_bench.hpp"
#include "hardware/emit/text/templates.hpp"
#include "hardware/emit/text/top.hpp"
#include "hardware/emit/vectors.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

/// A memory of weights, and what takes its place where a host may write.
constexpr const char* fixed_memory = "mase_rom";
constexpr const char* reload_memory = "mase_reload_memory";

/// What a module instantiates, in a design whose weights may be replaced or not.
std::vector<std::string> parts_of(const design::ModuleRow& row, bool reloadable) {
  std::vector<std::string> parts = row.uses;
  if (reloadable && row.reloads)
    std::ranges::replace(parts, std::string(fixed_memory), std::string(reload_memory));
  return parts;
}

std::string module_text(const design::ModuleRow& row, bool reloadable) {
  const std::string text = decided(template_text(row.folder + "/" + row.name + ".sv"), reloadable);
  const bool writes = reloadable && row.reloads;
  const std::string head = " #(";
  return writes ? replace_all(text, fixed_memory + head, reload_memory + head) : text;
}

/// The files of a module without folder and ending: its own, or the one of its name.
std::vector<std::string> files_of(const design::ModuleRow& row) {
  std::vector<std::string> names;
  for (const auto& [file, text] : row.files) names.push_back(fs::path(file).stem().string());
  return names.empty() ? std::vector{row.name} : names;
}

void add_row(const design::ModuleRow& row, bool reloadable, std::set<std::string>& seen,
             std::vector<std::string>& order) {
  for (const std::string& name : files_of(row)) {
    if (!seen.insert(name).second) continue;
    for (const std::string& part : parts_of(row, reloadable))
      add_row(design::module_row(part), reloadable, seen, order);
    order.push_back(name);
  }
}

/// Ops of the user's own may share files, but not names for different ones.
void add_own_file(const std::string& name, const std::string& text, Files& files) {
  const auto [found, added] = files.emplace("rtl/" + name, text);
  if (!added && found->second != text)
    config_error("two custom ops have different files of the name '" + name + "'; rename one");
}

Files own_files(const design::Design& design) {
  Files files;
  for (const design::Instance& instance : design.instances)
    for (const auto& [name, text] : instance.module->row().files) add_own_file(name, text, files);
  return files;
}

std::string streams_text(const design::Design& design, const Names& names) {
  std::string out = "# direction name first_bit width beats_per_frame element_bits sign\n";
  const auto add = [&](const std::vector<design::StreamId>& ids, const std::string& direction) {
    const BenchLayout layout = bench_layout(design, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const design::Stream& stream = design.stream(ids[i]);
      out += direction + " " + names.streams[static_cast<std::size_t>(ids[i])] + " " +
             std::to_string(layout.first_bit[i]) + " " + std::to_string(stream.width()) + " " +
             std::to_string(stream.beats()) + " " + std::to_string(stream.type.width) +
             (stream.type.is_signed ? " s\n" : " u\n");
    }
  };
  add(design.inputs, "in");
  add(design.outputs, "out");
  return out;
}

std::string vector_file(const Names& names, design::StreamId id) {
  return "sim/vectors/" + names.streams[static_cast<std::size_t>(id)] + ".hex";
}

/// A folder beside the final one, removed with whatever is still in it.
class Staging {
 public:
  explicit Staging(const std::string& folder) : path_(folder + "/.emit" + temporary_suffix()) {
    make_folder(path_.string());
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

  /// Without waiting for the disk: an emitted folder can be made again at any time.
  void write(const std::string& name, const std::string& content) const {
    const fs::path path = path_ / name;
    make_folder(path.parent_path().string());
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (!file) file_error("cannot write '" + path.string() + "': " + std::strerror(errno));
  }

 private:
  fs::path path_;
};

}  // namespace

std::vector<std::string> modules_used(const design::Design& design) {
  std::set<std::string> seen;
  std::vector<std::string> order;
  for (const design::Instance& instance : design.instances)
    add_row(instance.module->row(), design.reloadable, seen, order);
  return order;
}

std::vector<std::string> modules_used(const design::Design& design, int device) {
  std::set<std::string> seen;
  std::vector<std::string> order;
  for (const design::Instance& instance : design.instances)
    if (instance.device == device) add_row(instance.module->row(), design.reloadable, seen, order);
  return order;
}

std::vector<std::string> with_axi(const design::Design& design, std::vector<std::string> modules) {
  std::set<std::string> seen(modules.begin(), modules.end());
  for (const char* part : {"mase_axi_stream_input", "mase_axi_stream_output", "mase_axi_control"})
    add_row(design::module_row(part), design.reloadable, seen, modules);
  return modules;
}

Files module_files(const design::Design& design) {
  Files files = own_files(design);
  for (const std::string& name : with_axi(design, modules_used(design))) {
    if (files.contains("rtl/" + name + ".sv")) continue;
    const design::ModuleRow& row = design::module_row(name);
    files["rtl/" + name + ".sv"] = module_text(row, design.reloadable);
    for (const std::string& family : row.families) {
      const std::string own = family + "/" + name + ".sv";
      files[own] = template_text(own);
    }
  }
  return files;
}

Files memory_files(const design::Design& design) {
  Files files;
  for (const design::Memory& memory : design.memories)
    files["rtl/" + memory.file] = join(memory.words, "\n") + "\n";
  if (design.reloadable) files[weights_file] = reload_image(design);
  return files;
}

Files bench_sources_of(const design::Design& design) {
  const Names names = names_of(design);
  Files files;
  files["sim/bench_top.sv"] = bench_top_text(design, names);
  files["sim/streams.txt"] = streams_text(design, names);
  for (const char* name : bench_sources)
    files[std::string("sim/") + name] = template_text(std::string("bench/") + name);
  return files;
}

Files sv_bench_files(const design::Design& design, const Names& names) {
  return {{"sim/bench.sv", sv_bench_text(design, names)},
          {"sim/" + fs::path(sv_bench_parts).filename().string(), template_text(sv_bench_parts)}};
}

std::vector<std::string> vector_names(const design::Design& design) {
  std::vector<std::string> files;
  if (!design.program) return files;
  const Names names = names_of(design);
  for (const auto* ids : {&design.inputs, &design.outputs})
    for (const design::StreamId id : *ids) files.push_back(vector_file(names, id));
  return files;
}

Files vector_files(const design::Design& design) {
  Files files;
  if (!design.program) return files;
  const Names names = names_of(design);
  const Vectors vectors = example_vectors(*design.program);
  const auto add = [&](const std::vector<design::StreamId>& ids,
                       const std::vector<integer::Codes>& codes) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      files[vector_file(names, ids[i])] = hex_beats(design.stream(ids[i]), codes[i]);
  };
  add(design.inputs, vectors.inputs);
  add(design.outputs, vectors.outputs);
  return files;
}

/// The driver for a host, examples of its use in C and Python, and the bench that runs it against
/// the wrapper.
Files host_files(const std::string& top) {
  Files files;
  for (const char* name : {"mase_host.h", "mase_host.c", "example.c", "design.c"})
    files[std::string("host/") + name] = template_text(std::string("host/") + name);
  files["host/mase_pynq.py"] = filled(template_text("host/mase_pynq.py"), {{"TOP", top}});
  files["host/" + top + ".ipynb"] = filled(template_text("host/notebook.ipynb"), {{"TOP", top}});
  files["sim/axi_bench.cpp"] = template_text("host/axi_bench.cpp");
  return files;
}

Files bench_files(const design::Design& design, const Files& vectors) {
  const Names names = names_of(design);
  Files files = bench_sources_of(design);
  files.merge(sv_bench_files(design, names));
  files.merge(host_files(names.top));
  files.insert(vectors.begin(), vectors.end());
  return files;
}

/// All but the top's.
Files parts_of(const design::Design& design, const Files& vectors) {
  Files files = module_files(design);
  files.merge(memory_files(design));
  files.merge(bench_files(design, vectors));
  return files;
}

Files top_files(const design::Design& design, const EmitOptions& options, const Files& vectors) {
  return files_of_top(design, options, parts_of(design, vectors));
}

Files all_files(const design::Design& design, const EmitOptions& options, const Files& vectors) {
  Files files = parts_of(design, vectors);
  files.merge(files_of_top(design, options, files));
  return files;
}

Files all_files(const design::Design& design, const EmitOptions& options) {
  return all_files(design, options, vector_files(design));
}

void write_files(const std::string& folder, const Files& files) {
  make_folder(folder);
  const Staging staging(place_to_write(folder));
  std::set<fs::path> parents;
  for (const auto& [name, content] : files) {
    staging.write(name, content);
    parents.insert((fs::path(folder) / name).parent_path());
  }
  for (const fs::path& parent : parents) make_folder(parent.string());
  for (const auto& [name, content] : files) {
    const fs::path target = place_to_write((fs::path(folder) / name).string());
    std::error_code error;
    fs::rename(staging.path() / name, target, error);
    if (error) file_error("cannot write '" + target.string() + "': " + error.message());
  }
}

}  // namespace mase::emit
