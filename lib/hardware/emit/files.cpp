// SPDX-License-Identifier: Apache-2.0
// The emitted folder: which files it has, what is copied from the templates, and its writing.

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "hardware/design/module_table.hpp"
#include "hardware/emit/beats.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/scripts.hpp"
#include "hardware/emit/top.hpp"
#include "hardware/integer/interpreter.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

void add_module(const std::string& name, std::set<std::string>& seen,
                std::vector<std::string>& order) {
  if (!seen.insert(name).second) return;
  for (const std::string& part : design::module_row(name).uses) add_module(part, seen, order);
  order.push_back(name);
}

std::string template_path(const std::string& file) {
  return share_folder() + "/hw_templates/" + file;
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

/// Frames of the least codes, of the greatest, and random ones, with the exact integer results.
Vectors example_vectors(const integer::Program& program) {
  constexpr std::int64_t frames = 8;
  Random random(0);
  Vectors vectors;
  vectors.frames = frames;
  for (const integer::ValueId id : program.inputs) {
    const integer::StreamValue& value = program.value(id);
    const integer::Wide low = value.type.low(), high = value.type.high();
    integer::Codes codes;
    for (std::int64_t i = 0; i < frames * value.elements(); ++i) {
      const std::int64_t frame = i / value.elements();
      const integer::Wide offset = random.below(static_cast<std::uint64_t>(high - low + 1));
      codes.push_back(static_cast<std::int64_t>(frame == 0   ? low
                                                : frame == 1 ? high
                                                             : low + offset));
    }
    vectors.inputs.push_back(std::move(codes));
  }
  vectors.outputs = integer::Interpreter(program).run(vectors.inputs, frames);
  return vectors;
}

/// Beats as text beside the bench, so that `make sim` needs nothing else.
void add_vectors(Files& files, const design::Design& design, const Names& names) {
  if (!design.program) return;
  const Vectors vectors = example_vectors(*design.program);
  const auto add = [&](const std::vector<design::StreamId>& ids,
                       const std::vector<integer::Codes>& codes) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      files["sim/vectors/" + names.streams[static_cast<std::size_t>(ids[i])] + ".hex"] =
          hex_beats(design.stream(ids[i]), codes[i]);
  };
  add(design.inputs, vectors.inputs);
  add(design.outputs, vectors.outputs);
}

/// A folder beside the final one, removed with whatever is still in it.
class Staging {
 public:
  explicit Staging(const std::string& folder) : path_(folder + "/.emit-" + unique_suffix()) {
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
    add_module(instance.module, seen, order);
  return order;
}

std::vector<std::string> modules_with_axi(const design::Design& design) {
  std::vector<std::string> order = modules_used(design);
  std::set<std::string> seen(order.begin(), order.end());
  for (const char* adapter : {"mase_axi_stream_input", "mase_axi_stream_output"})
    add_module(adapter, seen, order);
  return order;
}

Files module_files(const design::Design& design) {
  Files files;
  for (const std::string& name : modules_with_axi(design))
    files["rtl/" + name + ".sv"] =
        read_file(template_path(design::module_row(name).folder + "/" + name + ".sv"));
  return files;
}

Files memory_files(const design::Design& design) {
  Files files;
  for (const design::Memory& memory : design.memories)
    files["rtl/" + memory.file] = join(memory.words, "\n") + "\n";
  return files;
}

Files bench_files(const design::Design& design, const EmitOptions&) {
  const Names names = names_of(design);
  Files files;
  files["sim/bench_top.sv"] = bench_top_text(design, names);
  files["sim/streams.txt"] = streams_text(design, names);
  for (const char* name : bench_sources)
    files[std::string("sim/") + name] = read_file(template_path(std::string("bench/") + name));
  add_vectors(files, design, names);
  return files;
}

Files other_files(const design::Design& design, const EmitOptions& options) {
  Files files = module_files(design);
  files.merge(memory_files(design));
  files.merge(bench_files(design, options));
  return files;
}

Files all_files(const design::Design& design, const EmitOptions& options) {
  Files others = other_files(design, options);
  Files files = top_files(design, options, others);
  files.merge(others);
  return files;
}

void write_files(const std::string& folder, const Files& files) {
  make_folder(folder);
  const Staging staging(folder);
  std::set<fs::path> parents;
  for (const auto& [name, content] : files) {
    staging.write(name, content);
    parents.insert((fs::path(folder) / name).parent_path());
  }
  for (const fs::path& parent : parents) make_folder(parent.string());
  for (const auto& [name, content] : files) {
    const fs::path target = fs::path(folder) / name;
    std::error_code error;
    fs::rename(staging.path() / name, target, error);
    if (error) file_error("cannot write '" + target.string() + "': " + error.message());
  }
}

}  // namespace mase::emit
