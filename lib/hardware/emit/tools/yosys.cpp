// SPDX-License-Identifier: Apache-2.0
// One script per run; its reports are read from files.
#include "hardware/emit/tools/yosys.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"

namespace mase::emit {
namespace {

constexpr double synthesis_seconds = 4 * 3600;

}  // namespace

// A family's own file of a module replaces the common one. Sources are read deferred: a memory
// without its file name cannot be elaborated. They are named relative to the folder, where Yosys
// finds images.
Synthesised run_yosys(const std::string& hardware_folder, const Family& family,
                      const std::string& top, const std::string& extra,
                      const std::string& netlist) {
  const RunFolder run;
  const std::string folder = std::filesystem::absolute(hardware_folder).string();
  std::string sources;
  for (const std::string& source : split(read_file(folder + "/filelist.f"), '\n')) {
    const std::string own = replace_all(source, "rtl/", std::string(family.name) + "/");
    sources += (file_exists(folder + "/" + own) ? own : source) + " ";
  }
  if (!extra.empty()) {
    write_file(run.file(top + ".sv"), extra);
    sources += run.file(top + ".sv");
  }
  std::string script;
  if (!family.cells.empty()) script = "read_verilog -lib " + std::string(family.cells) + "; ";
  script += "read_verilog -sv -defer " + sources + "; hierarchy -check -top " + top + "; " +
            std::string(family.synthesise) + "; tee -q -o " + run.file("stat.json") +
            " stat -json; tee -q -o " + run.file("ltp.txt") + " ltp -noff w:* " +
            std::string(family.logic);
  if (!netlist.empty()) script += "; write_json " + run.file("netlist.json");
  // Last: it replaces the cells that synthesis knows by those with delays.
  if (!family.delays.empty())
    script += "; read_verilog -overwrite -lib -specify " + std::string(family.delays) +
              "; tee -q -o " + run.file("sta.txt") + " sta";
  run_checked({"yosys", "-q", "-p", script}, {folder, synthesis_seconds, {}}, "synthesis by Yosys");
  if (!netlist.empty()) std::filesystem::rename(run.file("netlist.json"), netlist);
  return {cost_of_stat(read_file(run.file("stat.json")), top, std::string(family.name)),
          depth_of_ltp(read_file(run.file("ltp.txt"))),
          family.delays.empty() ? std::nullopt : path_of_sta(read_file(run.file("sta.txt")))};
}

}  // namespace mase::emit
