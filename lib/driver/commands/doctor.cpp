// SPDX-License-Identifier: Apache-2.0
// `mase doctor` shows which parts of the tool chain are installed, and how to get the others.
#include <array>
#include <cstdio>
#include <memory>

#include "backend/backend.hpp"
#include "backend/libtorch.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "driver/commands/commands.hpp"
#include "driver/output.hpp"
#include "driver/version.hpp"
#include "sandbox/rights.hpp"

namespace mase::driver {
namespace {

struct Tool {
  const char* name;
  const char* version_command;  ///< constant, so that no user input reaches a shell; may be null
  const char* use;
};
constexpr Tool tools[] = {
    {"verilator", "verilator --version 2>/dev/null", "simulate the hardware"},
    {"iverilog", "iverilog -V 2>/dev/null",
     "simulate emitted hardware with its SystemVerilog bench"},
    {"yosys", "yosys -V 2>/dev/null", "area of the hardware"},
    {"nextpnr-ecp5", nullptr, "place the hardware"},
    {"nextpnr-ice40", nullptr, "place the hardware"},
    {"aws", "aws --version 2>/dev/null", "copy to and from stores of S3 (search --store)"},
    {"dot", "dot -V 2>&1", "draw graphs as SVG"},
};

std::string first_line(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command, "r"), pclose);
  std::array<char, 256> line{};
  if (!pipe || !std::fgets(line.data(), line.size(), pipe.get())) return "";
  return std::string(trim(line.data()));
}

Tree row(const std::string& part, bool found, const std::string& what, const std::string& remedy) {
  Tree entry = Tree::dict();
  entry["part"] = part;
  entry["found"] = found;
  entry["what"] = what;
  if (!found) entry["remedy"] = remedy;
  return entry;
}

/// How to get LibTorch, both in a source tree and for an installed program.
std::string libtorch_remedy() {
  const std::string wanted = backend::libtorch_version();
  if (wanted.empty()) return "scripts/setup, then scripts/build";
  return "`pip install torch==" + wanted +
         "` in an active Python environment, or set MASE_LIBTORCH to the folder of a LibTorch " +
         wanted + "; in a source tree: scripts/setup, then scripts/build";
}

Tree libtorch_row() {
  try {
    Tree info = backend::open().info();
    info["folder"] = backend::loaded_libtorch();
    Tree entry = row("LibTorch", true, info.at("version").as_string(), "");
    entry["details"] = std::move(info);
    return entry;
  } catch (const Error& error) {
    return row("LibTorch", false, error.what(), libtorch_remedy());
  }
}

Tree share_row() {
  try {
    return row("shipped files", true, share_folder(), "");
  } catch (const Error& error) {
    return row("shipped files", false, error.what(), "set MASE_SHARE to the folder with configs/");
  }
}

Tree sandbox_row() {
  const sandbox::Support found = sandbox::support();
  return row("sandbox", found.full(), found.text(),
             "run untrusted models in a container or another account (docs/security.md)");
}

Tree tool_row(const Tool& tool) {
  const std::string program = program_here(tool.name);
  if (!program_exists(program))
    return row(tool.name, false, std::string("missing: ") + tool.use, install_command(tool.name));
  return row(tool.name, true, tool.version_command ? first_line(tool.version_command) : program,
             "");
}

std::string details_text(const Tree& entry) {
  std::string text = entry.at("what").as_string();
  if (const Tree* details = entry.find("details"))
    for (const auto& [key, value] : details->as_dict())
      if (key != "version")
        text += ", " + key + " " + (value.is_string() ? value.as_string() : to_json(value, -1));
  if (const Tree* remedy = entry.find("remedy")) text += "  →  " + remedy->as_string();
  return text;
}

}  // namespace

int doctor(bool json) {
  Tree rows = Tree::list();
  rows.push_back(row("mase", true, version(), ""));
  rows.push_back(libtorch_row());
  rows.push_back(share_row());
  rows.push_back(sandbox_row());
  for (const Tool& tool : tools) rows.push_back(tool_row(tool));
  Output output(json);
  for (const Tree& entry : rows.as_list())
    output.text((entry.at("found").as_bool() ? "[ok] " : "[--] ") + entry.at("part").as_string() +
                ": " + details_text(entry));
  output.document()["parts"] = std::move(rows);
  output.finish();
  return 0;
}

}  // namespace mase::driver
