// SPDX-License-Identifier: Apache-2.0
// What tools get of a design on several devices: a script, a package, a wrapper and a placement for
// each of them.
#include <catch2/catch.hpp>
#include <set>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "designs.hpp"
#include "hardware/design/build.hpp"
#include "hardware/design/cost.hpp"
#include "hardware/design/programs.hpp"
#include "hardware/emit/emit.hpp"
#include "hardware/emit/place.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// Three layers of 8 values on three devices; the middle one has neither input nor output.
design::Design three_devices() {
  test::ProgramMaker maker;
  const auto x = maker.input("x", {8});
  const auto first = maker.linear("first", x, 8, 6);
  const auto second = maker.linear("second", first, 6, 6);
  maker.output(maker.linear("third", second, 6, 4));
  design::Design design =
      design::build(maker.share(), {}, {{{"first", 0}, {"second", 1}, {"third", 2}}, {}});
  design.name = "chain";
  return design;
}

/// Runs a script of the folder `vivado`; its commands are noted, and each succeeds.
ProcessResult run_script(const test::TemporaryFolder& folder, const std::string& script,
                         const std::vector<std::string>& arguments) {
  write_file(folder.file("vivado/stand_in.tcl"),
             "proc unknown args { puts $args; return [lindex $args 1] }\n"
             "proc get_timing_paths args {}\n"
             "proc get_property args { return 0.1 }\nsource " +
                 script + "\n");
  std::vector<std::string> command = {"tclsh", "stand_in.tcl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, {folder.file("vivado"), 600, {}});
}

std::set<std::string> interfaces_of(const std::string& xml) {
  std::set<std::string> names;
  const std::string begin = "<spirit:busInterface>\n";
  for (std::size_t at = xml.find(begin); at != std::string::npos; at = xml.find(begin, at + 1)) {
    const std::size_t name = xml.find("<spirit:name>", at) + 13;
    names.insert(xml.substr(name, xml.find('<', name) - name));
  }
  return names;
}

}  // namespace

TEST_CASE("Vivado implements each of several devices by its name, with reports of its own") {
  const test::TemporaryFolder folder;
  const design::Design design = three_devices();
  write_files(folder.path(), all_files(design, {}));
  for (const char* device : {"device0", "device1", "device2"})
    for (const std::string wrapper : {"", "axi"}) {
      std::vector<std::string> arguments = {device};
      if (!wrapper.empty()) arguments.push_back(wrapper);
      const ProcessResult done = run_script(folder, "build.tcl", arguments);
      INFO(device << done.out << done.err);
      CHECK(done.status == 0);
      const std::string top =
          std::string("chain_") + device + (wrapper.empty() ? "" : "_") + wrapper;
      CHECK(done.out.find("read_verilog -sv ../rtl/" + top + ".sv") != std::string::npos);
      CHECK(done.out.find("synth_design -top " + top + " ") != std::string::npos);
      CHECK(done.out.find("mase_link.sv") == std::string::npos);
      CHECK(trim(read_file(folder.file(std::string("vivado/reports_") + device + "/design.txt")))
                .ends_with(" " + top));
    }
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{}, {"axi"}, {"device3"}, {"device"}}) {
    const ProcessResult refused = run_script(folder, "build.tcl", wrong);
    CHECK(refused.status == 1);
    CHECK(refused.out ==
          "ERROR: the design is on several devices: name one of device0 device1 "
          "device2\n");
  }
}

TEST_CASE("each of several devices is an IP core with its streams and links") {
  const test::TemporaryFolder folder;
  const Files files = all_files(three_devices(), {});
  write_files(folder.path(), files);
  CHECK_FALSE(files.contains("component.xml"));  // the top has links for simulation inside
  const std::set<std::string> always = {"s_axi_control", "aclk", "aresetn"};
  const std::vector<std::set<std::string>> own = {{"s_axis_x", "m_axis_first_to_1"},
                                                  {"s_axis_first_from_0", "m_axis_second_to_2"},
                                                  {"s_axis_second_from_1", "m_axis_third"}};
  for (std::size_t d = 0; d < own.size(); ++d) {
    const std::string device = "device" + std::to_string(d);
    const std::string xml = files.at("ip/" + device + "/component.xml");
    std::set<std::string> wanted = always;
    wanted.insert(own[d].begin(), own[d].end());
    CHECK(interfaces_of(xml) == wanted);
    const std::string begin = "<spirit:file>\n";
    std::size_t count = 0;
    for (std::size_t at = xml.find(begin); at != std::string::npos; at = xml.find(begin, at + 1)) {
      const std::size_t name = xml.find("<spirit:name>", at) + 13;
      const std::string file = xml.substr(name, xml.find('<', name) - name);
      INFO(file);
      CHECK(file_exists(folder.file("ip/" + device + "/" + file)));
      ++count;
    }
    CHECK(count > 10);
    // The ports are those that Yosys sees.
    const std::string top = "chain_" + device + "_axi";
    run_checked(
        {"yosys", "-q", "-p",
         "read_verilog -sv -defer " +
             replace_all(read_file(folder.file("filelist_" + device + "_axi.f")), "\n", " ") +
             "; hierarchy -check -top " + top + "; proc; write_json ports.json"},
        {folder.path(), 600, {}}, "yosys");
    const Tree seen = parse_json(read_file(folder.file("ports.json")), "ports.json");
    const Tree::Dict& ports = seen.at("modules").at(top).at("ports").as_dict();
    std::size_t named = 0;
    for (const auto& [port, what] : ports)
      named += xml.find("<spirit:port>\n        <spirit:name>" + port + "<") != std::string::npos;
    CHECK(named == ports.size());
  }
}

TEST_CASE("links of a device are ports of its block design, or are joined by the user's script") {
  const test::TemporaryFolder folder;
  EmitOptions options;
  options.part = "xc7z020clg400-1";
  write_files(folder.path(), all_files(three_devices(), options));
  const ProcessResult first = run_script(folder, "block_design.tcl", {"device0"});
  INFO(first.out << first.err);
  CHECK(first.status == 0);
  for (const char* line :
       {"create_bd_design system_device0", "core/s_axis_x",
        "make_bd_intf_pins_external -name m_axis_first_to_1 core/m_axis_first_to_1",
        "CONFIG.ASSOCIATED_BUSIF m_axis_first_to_1", "with links_device0.tcl, which joins them"})
    CHECK(first.out.find(line) != std::string::npos);
  CHECK(first.out.find("launch_runs") == std::string::npos);
  CHECK(first.out.find("s_axis_second_from_1") == std::string::npos);
  const ProcessResult middle = run_script(folder, "block_design.tcl", {"device1"});
  CHECK(middle.status == 0);
  CHECK(middle.out.find("axi_dma") == std::string::npos);
  CHECK(middle.out.find("smartconnect transfers") == std::string::npos);
  write_file(folder.file("vivado/links_device2.tcl"), "join_by_mine core/s_axis_second_from_1\n");
  const ProcessResult last = run_script(folder, "block_design.tcl", {"device2", "a:b:part0:1.0"});
  CHECK(last.out.find("join_by_mine core/s_axis_second_from_1") != std::string::npos);
  CHECK(last.out.find("make_bd_intf_pins_external") == std::string::npos);
  CHECK(last.out.find("launch_runs") != std::string::npos);
  CHECK(last.out.find("set_property board_part a:b:part0:1.0") != std::string::npos);
}

TEST_CASE("each of several devices is placed by itself") {
  if (!program_exists(program_here("nextpnr-ice40"))) {
    WARN("skipped: nextpnr-ice40 is not in PATH");
    return;
  }
  const test::TemporaryFolder folder;
  const design::Design design = three_devices();
  write_files(folder.path(), all_files(design, {}));
  const std::vector<Placement> placements = place(folder.path(), design, "ice40", 20, 1);
  REQUIRE(placements.size() == 3);
  const Names names = names_of(design);
  const std::vector<DeviceScope> parts = device_scopes(design, names);
  for (std::size_t d = 0; d < placements.size(); ++d) {
    CHECK(placements[d].device_id == static_cast<int>(d));
    CHECK(placements[d].top == "chain_device" + std::to_string(d));
    CHECK(placements[d].mhz > 10);
    std::set<std::string> own;
    for (const std::size_t i : parts[d].scope.instances) own.insert(names.instances[i]);
    CHECK(!placements[d].instances.empty());
    for (const auto& [name, slowest] : placements[d].instances) CHECK(own.contains(name));
  }
}
