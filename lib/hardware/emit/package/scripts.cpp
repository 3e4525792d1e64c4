// SPDX-License-Identifier: Apache-2.0
// Texts for make, and the files that belong to the top.
#include "hardware/emit/package/scripts.hpp"

#include <set>

#include "base/text.hpp"
#include "hardware/emit/design_json.hpp"
#include "hardware/emit/families.hpp"
#include "hardware/emit/package/data_sheet.hpp"
#include "hardware/emit/package/ip_package.hpp"
#include "hardware/emit/place.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/templates.hpp"
#include "hardware/emit/text/top.hpp"
#include "hardware/emit/tools/tool_scripts.hpp"
#include "hardware/emit/vivado.hpp"

namespace mase::emit {
namespace {

constexpr const char* makefile =
    R"(# Checks, simulates and synthesises this design without mase; `make help` lists the targets.
TOP := @TOP@
ARGS ?= --stall-spell @SPELL@ --watchdog @WATCHDOG@
VERILATOR ?= verilator
IVERILOG ?= iverilog
YOSYS ?= yosys
NEXTPNR ?= nextpnr-ecp5
PLACE_ARGS ?= @PLACE_DEVICE@
VIVADO ?= vivado
QUARTUS ?= quartus_sh
RADIANT ?= radiantc
SOURCES := $(shell cat filelist.f)
# A module that has a text of its own for ECP5 is replaced by it.
for_ecp5 = $(foreach source,$(1),$(or $(wildcard $(source:rtl/%=ecp5/%)),$(source)))
AXI_SOURCES := $(shell cat filelist_axi.f)
# Where a design is on several devices, each is built by itself, with a top and file lists of its own that end in its
# name: `make synth` builds all of them, `make synth-device0` one.
DEVICES := @DEVICES@
BUILT := $(or $(DEVICES),design)
device = $(filter-out design,$*)
end = $(addprefix _,$(device))
TOOLS := synth vivado block-design place quartus radiant

SV_BENCH := sim/bench_streams.sv sim/bench.sv

.PHONY: help lint sim sim-icarus sim-xsim sim-questa sim-axi clean $(TOOLS) $(foreach tool,$(TOOLS),$(BUILT:%=$(tool)-%))

help:
	@echo 'make lint          Verilator reads every file with all warnings'
	@echo 'make sim           Verilator runs sim/vectors through the design (ARGS=options of sim/bench.cpp)'
	@echo 'make sim-icarus    the same with Icarus Verilog and sim/bench.sv (PLUSARGS="+frames=2 +stall=30")'
	@echo 'make sim-xsim      the same with the simulator of Vivado'
	@echo 'make sim-questa    the same with Questa or ModelSim'
	@echo 'make sim-axi       Verilator runs the AXI wrapper with the driver of host/'
	@echo 'make synth         Yosys counts resources for 7-series'
	@echo 'make place         Yosys and nextpnr place it on ECP5 (PLACE_ARGS=device of nextpnr)'
	@echo 'make vivado        Vivado implements it for the part of vivado/build.tcl (VIVADO_ARGS=axi: with the wrapper)'
	@echo 'make block-design  Vivado builds a Zynq system and its bitstream (BOARD=vendor:board:part0:version)'
	@echo 'make quartus       Quartus compiles it (DEVICE=...)'
	@echo 'make radiant       Radiant compiles it (DEVICE=...)'
	@echo 'make clean         removes what the others made'
	@echo '$(if $(DEVICES),The tools build $(DEVICES) one by one; make TOOL-$(firstword $(DEVICES)) builds one of them)'

lint:
	$(VERILATOR) --lint-only -Wall -f filelist.f --top-module $(TOP)
	$(VERILATOR) --lint-only -Wall -f filelist_axi.f --top-module $(TOP)_axi
	for device in $(DEVICES); do \
	  $(VERILATOR) --lint-only -Wall -f filelist_$$device.f --top-module $(TOP)_$$device || exit 1; \
	  $(VERILATOR) --lint-only -Wall -f filelist_$${device}_axi.f --top-module $(TOP)_$${device}_axi || exit 1; done

# The bench reads the memory images from where it is started.
sim: sim/obj/bench
	cd rtl && ../sim/obj/bench $(ARGS)

sim/obj/bench: $(SOURCES) sim/bench_top.sv $(wildcard sim/*.cpp sim/*.hpp)
	cd sim && $(VERILATOR) @BUILD@ \
	  @MODEL@ --Mdir obj -o bench \
	  -CFLAGS "@CFLAGS@" -MAKEFLAGS "@MAKEFLAGS@" \
	  $(addprefix ../,$(SOURCES)) bench_top.sv @SOURCE@

sim-icarus: sim/obj_icarus/bench.vvp
	cd rtl && vvp -n ../sim/obj_icarus/bench.vvp $(PLUSARGS)

sim/obj_icarus/bench.vvp: $(SOURCES) $(SV_BENCH)
	mkdir -p sim/obj_icarus
	$(IVERILOG) -g2012 -s bench -o $@ $(SOURCES) $(SV_BENCH)

sim-xsim:
	mkdir -p sim/obj_xsim
	cd sim/obj_xsim && cp ../../rtl/*.mem . 2>/dev/null; xvlog -sv $(addprefix ../../,$(SOURCES) $(SV_BENCH))
	cd sim/obj_xsim && xelab bench -s bench && xsim bench -R $(addprefix -testplusarg ,$(PLUSARGS:+%=%) vectors=../vectors)

sim-questa:
	mkdir -p sim/obj_questa
	cd rtl && vlib ../sim/obj_questa/work && vlog -sv -work ../sim/obj_questa/work $(addprefix ../,$(SOURCES) $(SV_BENCH))
	cd rtl && vsim -c -lib ../sim/obj_questa/work bench $(PLUSARGS) -do "onbreak {quit -code 1}; run -all; quit -f"

sim-axi: sim/obj_axi/bench
	cd rtl && ../sim/obj_axi/bench $(AXI_ARGS)

sim/obj_axi/bench: $(AXI_SOURCES) sim/axi_bench_top.sv sim/axi_bench.cpp $(wildcard host/*)
	cd sim && $(VERILATOR) @AXI_BUILD@ --Mdir obj_axi -o bench \
	  -CFLAGS "@AXI_CFLAGS@" -MAKEFLAGS "@HERE@" \
	  $(addprefix ../,$(AXI_SOURCES)) axi_bench_top.sv @AXI_SOURCE@

$(foreach tool,$(TOOLS),$(eval $(tool): $(BUILT:%=$(tool)-%)))

$(BUILT:%=synth-%): synth-%:
	$(YOSYS) -q -p "read_verilog -sv -defer $(shell cat filelist$(end).f); hierarchy -check -top $(TOP)$(end); \
	  @SYNTHESISE@; tee -q -o synth$(end).txt stat"
	cat synth$(end).txt

$(BUILT:%=vivado-%): vivado-%:
	cd vivado && $(VIVADO) -mode batch -source build.tcl $(if $(device)$(VIVADO_ARGS),-tclargs $(device) $(VIVADO_ARGS))

$(BUILT:%=block-design-%): block-design-%:
	cd vivado && $(VIVADO) -mode batch -source block_design.tcl $(if $(device)$(BOARD),-tclargs $(device) $(BOARD))

# `mase emit --place` also moves registers into the memories' outputs, which makes the clock faster.
$(BUILT:%=place-%): place-%:
	$(YOSYS) -q -p "read_verilog -lib @PLACE_CELLS@; \
	  read_verilog -sv -defer $(call for_ecp5,$(shell cat filelist$(end).f)) place/@BOUNDARY@$(end).sv; \
	  hierarchy -check -top @BOUNDARY@$(end); @PLACE_SYNTHESISE@; write_json place/netlist$(end).json"
	$(NEXTPNR) $(PLACE_ARGS) @PLACE_OPTIONS@ --freq @MHZ@ --timing-allow-fail --json place/netlist$(end).json \
	  --report place/report$(end).json --quiet --log place/nextpnr$(end).log
	grep "Max frequency" place/nextpnr$(end).log | tail -1

$(BUILT:%=quartus-%): quartus-%:
	cd quartus && $(QUARTUS) -t build.tcl $(device) $(DEVICE)

$(BUILT:%=radiant-%): radiant-%:
	cd radiant && $(RADIANT) build.tcl $(device) $(DEVICE)

clean:
	rm -rf sim/obj sim/obj_* synth*.txt vivado/reports* vivado/system* place/netlist*.json place/report*.json place/nextpnr*.log
	rm -rf quartus/db quartus/incremental_db quartus/output_files radiant/project*
)";

/// Sources relative to the emitted folder, parts first.
std::vector<std::string> sources_of(std::vector<std::string> modules,
                                    const std::vector<std::string>& generated) {
  modules.insert(modules.end(), generated.begin(), generated.end());
  for (std::string& name : modules) name = "rtl/" + name + ".sv";
  return modules;
}

std::string lines_of(const std::vector<std::string>& sources) { return join(sources, "\n") + "\n"; }

/// The module of every device, none for a single one. Returns their names.
std::vector<std::string> add_devices(const design::Design& design, const Names& names,
                                     Files& files) {
  std::vector<std::string> tops;
  for (const verilog::Module& module : device_modules(design, names)) {
    files["rtl/" + module.name + ".sv"] = verilog::print(module);
    tops.push_back(module.name);
  }
  return tops;
}

/// The images that the instances of a scope read.
std::vector<std::string> images_of(const design::Design& design, const Scope& scope) {
  std::set<std::string> named;
  for (const std::size_t i : scope.instances)
    for (const auto& [parameter, value] : design.instances[i].module->parameters())
      if (const auto* text = std::get_if<std::string>(&value)) named.insert(*text);
  std::vector<std::string> files;
  for (const design::Memory& memory : design.memories)
    if (named.contains(memory.file)) files.push_back("rtl/" + memory.file);
  return files;
}

/// What a folder has for each scope that has a list of sources.
struct Packager {
  const design::Design& design;
  const Names& names;
  const EmitOptions& options;
  const std::string& number;
  Files& files;

  /// The list of the sources, the wrapper, and the list with the wrapper's; `tops` are behind the
  /// modules.
  void add(const DeviceScope& part, const std::vector<std::string>& modules,
           std::vector<std::string> tops, bool packaged) const {
    const verilog::Module wrapper = axi_module(design, names, part.scope, options, number);
    files["rtl/" + wrapper.name + ".sv"] = verilog::print(wrapper);
    files[part.list()] = lines_of(sources_of(modules, tops));
    tops.push_back(wrapper.name);
    const std::vector<std::string> sources = sources_of(with_axi(design, modules), tops);
    files[part.axi_list()] = lines_of(sources);
    if (packaged) add_package(part, wrapper, sources);
  }

 private:
  /// component.xml, which for one of several devices has a folder of its own.
  void add_package(const DeviceScope& part, const verilog::Module& wrapper,
                   std::vector<std::string> sources) const {
    for (std::string& image : images_of(design, part.scope)) sources.push_back(std::move(image));
    const bool alone = part.word.empty();
    if (!alone)
      for (std::string& source : sources) source = "../../" + source;
    files[(alone ? "" : "ip/" + part.word + "/") + "component.xml"] =
        component_xml(design, names, part.scope, options, wrapper, number, sources);
  }
};

}  // namespace

std::string bench_cflags(int optimise) {
  return "-std=c++20 -O" + std::to_string(optimise) + " -include ../signs.hpp";
}

std::string bench_makeflags(int optimise) {
  // One compilation for all files of the model: at level 0 reading the headers takes longest.
  const std::string unit = optimise == 0 ? " VM_PARALLEL_BUILDS=0" : "";
  return "OPT_FAST=-O" + std::to_string(optimise) + unit +
         " OPT_SLOW=-O0 OPT_GLOBAL=-O0 --eval=VM_SUPPORT_FAST:=dut " + here;
}

std::string makefile_text(const design::Design& design, const EmitOptions& options) {
  constexpr int optimise = 2;
  const Family& placed = placed_family("ecp5");
  SimulateOptions stalls;
  stalls.spell = stall_spell(design);
  std::vector<std::string> devices;
  if (has_devices(design))
    for (const int device : design.devices()) devices.push_back(device_word(device));
  return filled(makefile, {{"TOP", names_of(design).top},
                           {"DEVICES", join(devices, " ")},
                           {"SPELL", std::to_string(stalls.spell)},
                           {"WATCHDOG", std::to_string(watchdog_cycles(design, stalls))},
                           {"BUILD", bench_build},
                           {"MODEL", bench_model},
                           {"SOURCE", bench_source},
                           {"CFLAGS", bench_cflags(optimise)},
                           {"MAKEFLAGS", bench_makeflags(optimise)},
                           {"AXI_BUILD", axi_build},
                           {"AXI_SOURCE", axi_source},
                           {"AXI_CFLAGS", axi_cflags},
                           {"HERE", here},
                           {"SYNTHESISE", synthesise_xc7},
                           {"BOUNDARY", boundary_name},
                           {"MHZ", double_text(options.clock_mhz)},
                           {"PLACE_CELLS", std::string(placed.cells)},
                           {"PLACE_SYNTHESISE", std::string(placed.synthesise)},
                           {"PLACE_DEVICE", join(placed.devices.front().arguments, " ")},
                           {"PLACE_OPTIONS", join(placed.place_arguments, " ")}});
}

Files files_of_top(const design::Design& design, const EmitOptions& options, const Files& others) {
  const Names names = names_of(design);
  const std::string number = design_number(design, names);
  Files files;
  files["rtl/" + names.top + ".sv"] = top_text(design, names);
  files["sim/axi_bench_top.sv"] = axi_bench_top_text(design, names, options);
  files["host/host.h"] = host_header(design, names, options, number);
  std::vector<std::string> tops = add_devices(design, names, files);
  tops.push_back(names.top);
  const bool several = has_devices(design);
  const Packager packager{design, names, options, number, files};
  packager.add({0, "", whole_scope(design, names)}, modules_used(design), tops, !several);
  if (several)
    for (const DeviceScope& part : device_scopes(design, names))
      packager.add(part, modules_used(design, part.device), {part.scope.name}, true);
  files["Makefile"] = makefile_text(design, options);
  files["README.md"] = data_sheet(design, names, options);
  files.merge(vivado_files(design, options, number));
  files.merge(tool_scripts(design, options));
  Files listed = files;
  listed.insert(others.begin(), others.end());
  files["design.json"] = design_json(design, names, options, listed);
  return files;
}

}  // namespace mase::emit
