// SPDX-License-Identifier: Apache-2.0
// IP-XACT of the wrapper. The order of elements is the schema's.
#include "hardware/emit/package/ip_package.hpp"

#include <cmath>

#include "base/text.hpp"
#include "hardware/emit/text/xml.hpp"

namespace mase::emit {
namespace {

using Elements = std::vector<Element>;

constexpr const char* registers_name = "s_axi_control";
constexpr const char* map_name = "control";
constexpr std::array tool_views = {std::pair{"synthesis", "Synthesis"},
                                   std::pair{"simulation", "Simulation"}};
/// As Vivado names them; those whose cells the templates fit.
constexpr std::array supported_families = {"spartan7",    "artix7",      "kintex7",
                                           "virtex7",     "zynq",        "zynquplus",
                                           "kintexuplus", "virtexuplus", "versal"};

Element leaf(const std::string& name, const std::string& text) { return {"spirit:" + name, text}; }
Element group(const std::string& name, Elements inside) {
  return {"spirit:" + name, "", std::move(inside)};
}
Element number(const std::string& name, std::int64_t value) {
  Element element = leaf(name, std::to_string(value));
  element.attributes = {{"spirit:format", "long"}};
  return element;
}

/// Vendor, library, name and version as the attributes of a reference.
Element reference(const std::string& name, const std::string& library, const std::string& what) {
  return {"spirit:" + name,
          "",
          {},
          {{"spirit:vendor", "xilinx.com"},
           {"spirit:library", library},
           {"spirit:name", what},
           {"spirit:version", "1.0"}}};
}

Element parameter(const std::string& name, const std::string& value) {
  return group("parameter", {leaf("name", name), leaf("value", value)});
}

struct PortMap {
  std::string logical, physical;
};

/// One interface; `side` is its master or slave.
Element interface(const std::string& name, const std::string& library, const std::string& type,
                  Element side, const std::vector<PortMap>& maps, Elements parameters) {
  Elements ports;
  for (const PortMap& map : maps)
    ports.push_back(group("portMap", {group("logicalPort", {leaf("name", map.logical)}),
                                      group("physicalPort", {leaf("name", map.physical)})}));
  Elements inside = {leaf("name", name), reference("busType", library, type),
                     reference("abstractionType", library, type + "_rtl"), std::move(side),
                     group("portMaps", std::move(ports))};
  if (!parameters.empty()) inside.push_back(group("parameters", std::move(parameters)));
  return group("busInterface", std::move(inside));
}

std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

Element stream_interface(const design::Stream& stream, const std::string& name, bool input,
                         const EmitOptions& options) {
  std::vector<PortMap> maps;
  for (const std::string signal : stream_signals)
    maps.push_back({upper_case(signal), name + "_" + signal});
  return interface(name, "interface", "axis", group(input ? "slave" : "master", {}), maps,
                   {parameter("TDATA_NUM_BYTES", std::to_string(axi_layout(stream, options).bytes)),
                    parameter("HAS_TKEEP", "1"), parameter("HAS_TLAST", "1")});
}

/// A link has neither TKEEP nor bytes that could be left out.
Element link_interface(const design::Design& design, design::StreamId id, const std::string& name,
                       bool leaves) {
  std::vector<PortMap> maps;
  for (const std::string signal : link_signals)
    maps.push_back({upper_case(signal), name + "_" + signal});
  return interface(name, "interface", "axis", group(leaves ? "master" : "slave", {}), maps,
                   {parameter("TDATA_NUM_BYTES", std::to_string(link_tdata(design, id) / 8)),
                    parameter("HAS_TKEEP", "0"), parameter("HAS_TLAST", "1")});
}

Element register_interface() {
  std::vector<PortMap> maps;
  for (const RegisterSignal& signal : register_signals)
    maps.push_back({upper_case(signal.name), std::string(registers_name) + "_" + signal.name});
  Element map{"spirit:memoryMapRef", "", {}, {{"spirit:memoryMapRef", map_name}}};
  return interface(registers_name, "interface", "aximm", group("slave", {map}), maps,
                   {parameter("PROTOCOL", "AXI4LITE")});
}

Element clock_interface(const std::vector<std::string>& buses, const EmitOptions& options) {
  return interface(
      "aclk", "signal", "clock", group("slave", {}), {{"CLK", "aclk"}},
      {parameter("ASSOCIATED_BUSIF", join(buses, ":")), parameter("ASSOCIATED_RESET", "aresetn"),
       parameter("FREQ_HZ", std::to_string(std::llround(options.clock_mhz * 1e6)))});
}

Element reset_interface() {
  return interface("aresetn", "signal", "reset", group("slave", {}), {{"RST", "aresetn"}},
                   {parameter("POLARITY", "ACTIVE_LOW")});
}

Element interfaces(const design::Design& design, const Names& names, const Scope& scope,
                   const EmitOptions& options) {
  Elements inside;
  std::vector<std::string> buses = {registers_name};
  for (const auto* side : {&scope.inputs, &scope.outputs})
    for (const design::StreamId id : *side) {
      const bool input = side == &scope.inputs;
      buses.push_back(axi_prefix(names, id, input));
      inside.push_back(stream_interface(design.stream(id), buses.back(), input, options));
    }
  for (const auto* side : {&scope.link_inputs, &scope.link_outputs})
    for (const design::StreamId id : *side) {
      const bool leaves = side == &scope.link_outputs;
      buses.push_back(link_prefix(names, id, leaves));
      inside.push_back(link_interface(design, id, buses.back(), leaves));
    }
  inside.push_back(register_interface());
  inside.push_back(clock_interface(buses, options));
  inside.push_back(reset_interface());
  return group("busInterfaces", std::move(inside));
}

Element memory_map(bool reloadable) {
  Elements block = {leaf("name", "registers"), number("baseAddress", 0), number("range", 4096),
                    number("width", 32), leaf("usage", "register")};
  for (const RegisterRow& row : register_rows)
    if (reloadable || !row.reloads)
      block.push_back(group("register", {leaf("name", row.name), leaf("description", row.text),
                                         leaf("addressOffset", std::to_string(row.offset)),
                                         number("size", 32), leaf("access", row.access)}));
  return group(
      "memoryMaps",
      {group("memoryMap", {leaf("name", map_name), group("addressBlock", std::move(block))})});
}

Element port(const verilog::Port& port) {
  Elements wire = {leaf("direction", port.direction == verilog::Direction::input ? "in" : "out")};
  if (!port.scalar)
    wire.push_back(group("vector", {number("left", port.width - 1), number("right", 0)}));
  return group("port", {leaf("name", port.name), group("wire", std::move(wire))});
}

std::string set_name(const std::string& view) {
  return "xilinx_anylanguage" + view + "_view_fileset";
}

Element model(const verilog::Module& wrapper) {
  Elements shown, ports;
  for (const auto& [view, title] : tool_views)
    shown.push_back(group(
        "view", {leaf("name", std::string("xilinx_anylanguage") + view), leaf("displayName", title),
                 leaf("envIdentifier", std::string(":vivado.xilinx.com:") + view),
                 leaf("language", "SystemVerilog"), leaf("modelName", wrapper.name),
                 group("fileSetRef", {leaf("localName", set_name(view))})}));
  for (const verilog::Port& one : wrapper.ports) ports.push_back(port(one));
  return group("model", {group("views", std::move(shown)), group("ports", std::move(ports))});
}

Element file(const std::string& name) {
  const bool memory = name.ends_with(".mem");
  return group("file", {leaf("name", name), memory ? leaf("userFileType", "mem")
                                                   : leaf("fileType", "systemVerilogSource")});
}

Element file_sets(const std::vector<std::string>& files) {
  Elements sets;
  for (const auto& [view, title] : tool_views) {
    Elements inside = {leaf("name", set_name(view))};
    for (const std::string& name : files) inside.push_back(file(name));
    sets.push_back(group("fileSet", std::move(inside)));
  }
  return group("fileSets", std::move(sets));
}

/// The revision follows the design, so that Vivado sees an upgrade where something changed.
Element extensions(const design::Design& design, const std::string& design_number) {
  Elements supported;
  for (const char* family : supported_families)
    supported.push_back({"xilinx:family", family, {}, {{"xilinx:lifeCycle", "Production"}}});
  const unsigned long revision = std::stoul(design_number, nullptr, 16) & 0x7fff'ffff;
  return group("vendorExtensions", {{"xilinx:coreExtensions",
                                     "",
                                     {{"xilinx:supportedFamilies", "", supported},
                                      {"xilinx:taxonomies", "", {{"xilinx:taxonomy", "/UserIP"}}},
                                      {"xilinx:displayName", design.name},
                                      {"xilinx:coreRevision", std::to_string(revision)}}}});
}

}  // namespace

std::string component_xml(const design::Design& design, const Names& names, const Scope& scope,
                          const EmitOptions& options, const verilog::Module& wrapper,
                          const std::string& number, const std::vector<std::string>& files) {
  Element root = group(
      "component", {leaf("vendor", "mase"), leaf("library", "design"), leaf("name", wrapper.name),
                    leaf("version", "1.0"), interfaces(design, names, scope, options),
                    memory_map(design.reloadable), model(wrapper), file_sets(files),
                    leaf("description", "Dataflow accelerator " + design.name),
                    group("parameters", {parameter("Component_Name", wrapper.name)}),
                    extensions(design, number)});
  root.attributes = {{"xmlns:xilinx", "http://www.xilinx.com"},
                     {"xmlns:spirit", "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"},
                     {"xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"}};
  return print(root);
}

}  // namespace mase::emit
