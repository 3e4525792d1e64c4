// SPDX-License-Identifier: Apache-2.0
// component.xml beside what others say of the same: Yosys of the wrapper's ports, the driver of the
// registers, the folder of its files.
#include "hardware/emit/package/ip_package.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/tree.hpp"
#include "designs.hpp"
#include "hardware/emit/emit.hpp"
#include "support/temporary_folder.hpp"

using namespace mase;
using namespace mase::emit;

namespace {

/// What stands in every element of that name, from first to last.
std::vector<std::string> all_inside(const std::string& text, const std::string& name) {
  std::vector<std::string> found;
  const std::string begin = "<spirit:" + name + ">", end = "</spirit:" + name + ">";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    found.push_back(text.substr(at, text.find(end, at) - at));
  }
  return found;
}

std::string one_inside(const std::string& text, const std::string& name) {
  const std::vector<std::string> found = all_inside(text, name);
  REQUIRE(!found.empty());
  return found.front();
}

/// The direction and width of every port: "in 8".
using Ports = std::map<std::string, std::string>;

Ports packaged_ports(const std::string& xml) {
  Ports ports;
  const std::regex left("<spirit:left spirit:format=\"long\">([0-9]+)<");
  for (const std::string& port : all_inside(one_inside(xml, "ports"), "port")) {
    std::smatch match;
    const int width = std::regex_search(port, match, left) ? std::stoi(match[1]) + 1 : 1;
    ports[one_inside(port, "name")] = one_inside(port, "direction") + " " + std::to_string(width);
  }
  return ports;
}

Ports read_by_yosys(const std::string& folder, const std::string& top) {
  const std::string sources = replace_all(read_file(folder + "/filelist_axi.f"), "\n", " ");
  run_checked({"yosys", "-q", "-p",
               "read_verilog -sv -defer " + sources + "; hierarchy -check -top " + top +
                   "; proc; write_json wrapper.json"},
              {folder, 3600, {}}, "yosys");
  const Tree all = parse_json(read_file(folder + "/wrapper.json"), "wrapper.json");
  Ports ports;
  for (const auto& [name, port] : all.at("modules").at(top).at("ports").as_dict())
    ports[name] = (port.at("direction").as_string() == "input" ? "in " : "out ") +
                  std::to_string(port.at("bits").size());
  return ports;
}

/// MASE_<name> = offset of the driver's enumeration.
std::map<std::string, int> offsets_of_driver() {
  const std::string header = read_file(share_folder() + "/hw_templates/host/mase_host.h");
  const std::regex entry("MASE_([A-Z_]+) = 0x([0-9a-f]+)");
  std::map<std::string, int> offsets;
  for (std::sregex_iterator at(header.begin(), header.end(), entry), end; at != end; ++at)
    offsets[(*at)[1]] = std::stoi((*at)[2], nullptr, 16);
  return offsets;
}

}  // namespace

TEST_CASE("the IP package has the wrapper's ports, each in one interface") {
  for (const design::Design& design : {test::two_lines(), test::one_table()}) {
    INFO(design.name);
    const test::TemporaryFolder folder;
    write_files(folder.path(), all_files(design, {}));
    const std::string xml = read_file(folder.file("component.xml"));
    const Ports ports = packaged_ports(xml);
    CHECK(ports == read_by_yosys(folder.path(), design.name + "_axi"));
    std::multiset<std::string> mapped = {"error"};  // no bus
    for (const std::string& map : all_inside(xml, "physicalPort"))
      mapped.insert(one_inside(map, "name"));
    std::multiset<std::string> names;
    for (const auto& [name, port] : ports) names.insert(name);
    CHECK(mapped == names);
    for (const std::string& file : all_inside(xml, "file"))
      CHECK(file_exists(folder.file(one_inside(file, "name"))));
  }
}

TEST_CASE("the IP package has the registers of the driver") {
  design::Design design = test::one_skid();
  const auto offsets_of = [](const design::Design& packaged) {
    std::map<std::string, int> offsets;
    const std::string xml = all_files(packaged, {}).at("component.xml");
    for (const std::string& row : all_inside(xml, "register"))
      offsets[one_inside(row, "name")] = std::stoi(one_inside(row, "addressOffset"));
    return offsets;
  };
  std::map<std::string, int> always = offsets_of_driver();
  std::erase_if(always, [](const auto& entry) { return entry.second >= 0x28; });
  CHECK(offsets_of(design) == always);
  design.reloadable = true;
  CHECK(offsets_of(design) == offsets_of_driver());
}

TEST_CASE("the module of the registers and the documentation name the same offsets") {
  const auto offsets_in = [](const std::string& text) {
    std::set<int> offsets;
    const std::regex offset("0x([0-9a-f]{2})\\b");
    for (std::sregex_iterator at(text.begin(), text.end(), offset), end; at != end; ++at)
      offsets.insert(std::stoi((*at)[1], nullptr, 16));
    return offsets;
  };
  std::set<int> rows;
  for (const RegisterRow& row : register_rows) rows.insert(row.offset);
  const std::string module =
      read_file(share_folder() + "/hw_templates/interface/mase_axi_control.sv");
  CHECK(offsets_in(module.substr(0, module.find("\nmodule"))) == rows);
  const std::string page = read_file(share_folder() + "/docs/hardware/emitted_folder.md");
  std::set<int> documented = offsets_in(page);
  documented.insert(0x24);  // the high half of 0x20
  CHECK(documented == rows);
}

TEST_CASE("options reach the IP package, and another design is another revision") {
  EmitOptions options;
  options.clock_mhz = 125;
  options.tdata = "power_of_two";
  const std::string xml = all_files(test::two_lines(), options).at("component.xml");
  CHECK(xml.find("<spirit:value>125000000</spirit:value>") != std::string::npos);
  // Five lanes of 20 bits: four bytes each, and 32 for all.
  CHECK(xml.find("<spirit:name>TDATA_NUM_BYTES</spirit:name>\n          "
                 "<spirit:value>32</spirit:value>") != std::string::npos);
  const std::regex revision("<xilinx:coreRevision>([0-9]+)<");
  const std::string other = all_files(test::one_skid(), options).at("component.xml");
  std::smatch first, second;
  REQUIRE(std::regex_search(xml, first, revision));
  REQUIRE(std::regex_search(other, second, revision));
  CHECK(first[1] != second[1]);
}
