// SPDX-License-Identifier: Apache-2.0
// The contents of files are put into the tables before the tables are read. Configurations are not
// trusted, so no path may leave their folder.
#include "driver/custom_ops.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "config/toml.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{1} << 20;

class Inliner {
 public:
  Inliner(const std::string& path, Diagnostics& diagnostics)
      : folder_(fs::path(path).parent_path()), diagnostics_(diagnostics) {}

  /// Replaces the file names in a table [custom_ops.NAME.hardware] by contents.
  void run(Tree& hardware) {
    if (Tree* files = hardware.find("files"); files && files->is_list()) put_texts(*files);
    if (Tree* table = hardware.find("table"); table && table->is_string()) put_numbers(*table);
  }

 private:
  /// The path of a file relative to the configuration; empty after a diagnostic.
  std::string path_of(const Tree& name) {
    if (!name.is_string()) return refuse(name, "the name of a file must be a string");
    const std::string& text = name.as_string();
    std::error_code error;
    const fs::path folder = fs::canonical(folder_.empty() ? "." : folder_, error);
    const fs::path path = fs::weakly_canonical(folder / text, error);
    const fs::path inside = path.lexically_relative(folder);
    if (!stays_inside(text) || error || !stays_inside(inside.string()))
      return refuse(name, "'" + text + "' must be in the folder of the configuration");
    if (!fs::is_regular_file(path, error))
      return refuse(name, "no file '" + (folder_ / text).string() + "'");
    return path.string();
  }

  std::string refuse(const Tree& at, const std::string& message) {
    diagnostics_.error(at.where, message);
    return "";
  }

  void put_texts(Tree& files) {
    Tree texts = Tree::dict();
    texts.where = files.where;
    texts.key_where = files.key_where;
    for (const Tree& name : files.as_list()) {
      const std::string path = path_of(name);
      if (path.empty()) continue;
      const std::string short_name = fs::path(path).filename().string();
      if (texts.find(short_name)) refuse(name, "two files have the name '" + short_name + "'");
      Tree text = read(name, [&] { return Tree(read_file(path, most_bytes)); });
      text.where = text.key_where = name.where;
      texts[short_name] = std::move(text);
    }
    files = std::move(texts);
  }

  void put_numbers(Tree& table) {
    const std::string path = path_of(table);
    const SourceLocation where = table.where, key = table.key_where;
    if (!path.empty()) table = read(table, [&] { return integers(path); });
    table.where = where;
    table.key_where = key;
  }

  template <class Read>
  Tree read(const Tree& at, const Read& one) {
    try {
      return one();
    } catch (const Error& error) {
      refuse(at, error.what());
      return Tree::list();
    }
  }

  static Tree integers(const std::string& path) {
    if (fs::file_size(path) > most_bytes) file_error(path + ": a table has at most 65536 entries");
    const Array array = read_npy(path);
    const auto list = [&]<class T>(T) { return Tree::list_of(array.span<T>()); };
    switch (array.dtype()) {
      case DType::int64:
        return list(std::int64_t{});
      case DType::int32:
        return list(std::int32_t{});
      case DType::int16:
        return list(std::int16_t{});
      case DType::int8:
        return list(std::int8_t{});
      case DType::uint8:
        return list(std::uint8_t{});
      default:
        file_error(path + ": a table must be int8, uint8, int16, int32 or int64, but this one is " +
                   std::string(dtype_name(array.dtype())));
    }
  }

  fs::path folder_;
  Diagnostics& diagnostics_;
};

/// The part of an op's definition that training, quantization and the graph depend on.
Tree software_of(const ir::CustomOp& op) {
  Tree all = ir::write_custom_op(op), tree = Tree::dict();
  for (auto& [key, value] : all.as_dict())
    if (key != "hardware") tree[key] = value;
  return tree;
}

std::vector<std::string> names_of(const ir::CustomOps& ops) {
  std::vector<std::string> names;
  for (const auto& [name, op] : ops) names.push_back(name);
  return names;
}

}  // namespace

ir::CustomOps read_custom_op_tables(const Tree& tables, const std::string& path,
                                    Diagnostics& diagnostics) {
  Tree whole = tables;
  Diagnostics of_files;
  if (whole.is_dict())
    for (auto& [name, table] : whole.as_dict())
      if (Tree* hardware = table.find("hardware"); hardware && hardware->is_dict())
        Inliner(path, of_files).run(*hardware);
  for (const Diagnostic& problem : of_files.all())
    diagnostics.error(problem.where, "custom_ops: " + problem.message);
  return of_files.has_errors() ? ir::CustomOps() : ir::read_custom_ops(whole, diagnostics);
}

ir::CustomOps read_custom_op_file(const std::string& path) {
  const Tree file = config::read_toml(path);
  Diagnostics diagnostics;
  const Tree* tables = file.find("custom_ops");
  if (!tables) config_error(path + ": has no table [custom_ops.NAME]");
  ir::CustomOps ops = read_custom_op_tables(*tables, path, diagnostics);
  diagnostics.throw_if_errors();
  return ops;
}

Tree write_custom_op_tables(const ir::CustomOps& ops) {
  Tree tables = Tree::dict();
  for (const auto& [name, op] : ops) tables[name] = ir::write_custom_op(*op);
  return tables;
}

void redefine_custom_ops(ir::Graph& graph, const ir::CustomOps& ops, const std::string& model) {
  Diagnostics problems;
  for (const auto& [name, op] : ops) {
    const auto found = graph.custom_ops.find(name);
    const bool known = found != graph.custom_ops.end();
    if (known && software_of(*found->second) == software_of(*op)) {
      found->second = op;
      continue;
    }
    problems.error(op->where, "custom_ops." + name + ": the graph of " + model +
                                  (known ? " has this op with other inputs, tensors or MACs"
                                         : " is already built and has no such op" +
                                               did_you_mean(name, names_of(graph.custom_ops), "")) +
                                  "; define it when a TorchScript file is imported");
  }
  problems.throw_if_errors();
}

void check_custom_ops(const ir::Graph& graph, const ir::CustomOps& ops, const std::string& model) {
  Diagnostics problems;
  for (const auto& [name, op] : ops) {
    const auto found = graph.custom_ops.find(name);
    const bool same = found != graph.custom_ops.end() &&
                      ir::write_custom_op(*found->second) == ir::write_custom_op(*op);
    if (!same)
      problems.error(op->where, "custom_ops." + name + ": " + model +
                                    " describes this op differently, or not at all; run mase "
                                    "transform, which stores the table");
  }
  problems.throw_if_errors();
}

std::vector<std::string> foreign_files(const ir::Graph& graph, const ir::CustomOps& own) {
  std::vector<std::string> files;
  for (const auto& [name, op] : graph.custom_ops) {
    if (!op->hardware) continue;
    const auto given = own.find(name);
    const bool known = given != own.end() && given->second->hardware &&
                       given->second->hardware->files == op->hardware->files;
    if (known) continue;
    for (const auto& [file, text] : op->hardware->files)
      files.push_back(file + " of the op '" + name + "'");
  }
  return files;
}

void refuse_foreign_files(const ir::Graph& graph, const ir::CustomOps& own,
                          const std::string& model) {
  const std::vector<std::string> files = foreign_files(graph, own);
  if (files.empty()) return;
  config_error(model + " contains SystemVerilog files (" + join(files, ", ") +
               "), and such code can run any program. If the code is yours, give the --config that "
               "defines the op. If not, read what mase emit writes to hardware/rtl, and then add "
               "--allow-external");
}

void warn_of_foreign_files(const ir::Graph& graph, const ir::CustomOps& own,
                           const std::string& model) {
  const std::vector<std::string> files = foreign_files(graph, own);
  if (!files.empty())
    log::warning(model + " contains SystemVerilog files: " + join(files, ", ") +
                 "; read them before you simulate or synthesise: such code can run any program");
}

}  // namespace mase::driver
