// SPDX-License-Identifier: Apache-2.0
// Texts for make, and the files that belong to the top.
#include "hardware/emit/package/scripts.hpp"

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
ECP5_SOURCES := $(foreach source,$(SOURCES),$(or $(wildcard $(source:rtl/%=ecp5/%)),$(source)))
AXI_SOURCES := $(shell cat filelist_axi.f)
# Where a design is on several devices, each has a top and a file list of its own.
DEVICES := @DEVICES@

SV_BENCH := sim/bench_streams.sv sim/bench.sv

.PHONY: help lint sim sim-icarus sim-xsim sim-questa sim-axi synth vivado block-design place quartus radiant clean

help:
	@echo 'make lint          Verilator reads every file with all warnings'
	@echo 'make sim           Verilator runs sim/vectors through the design (ARGS=options of sim/bench.cpp)'
	@echo 'make sim-icarus    the same with Icarus Verilog and sim/bench.sv (PLUSARGS="+frames=2 +stall=30")'
	@echo 'make sim-xsim      the same with the simulator of Vivado'
	@echo 'make sim-questa    the same with Questa or ModelSim'
	@echo 'make sim-axi       Verilator runs the AXI wrapper with the driver of host/'
	@echo 'make synth         Yosys counts resources for 7-series (make synth-device0: of one of several devices)'
	@echo 'make place         Yosys and nextpnr place it on ECP5 (PLACE_ARGS=device of nextpnr)'
	@echo 'make vivado        Vivado implements it for the part of vivado/build.tcl (VIVADO_ARGS=axi: with the wrapper; VIVADO_ARGS=device0: one of several devices)'
	@echo 'make block-design  Vivado builds a Zynq system and its bitstream (BOARD=vendor:board:part0:version)'
	@echo 'make quartus       Quartus compiles it (DEVICE=...)'
	@echo 'make radiant       Radiant compiles it (DEVICE=...)'
	@echo 'make clean         removes what the others made'

lint:
	$(VERILATOR) --lint-only -Wall -f filelist.f --top-module $(TOP)
	$(VERILATOR) --lint-only -Wall -f filelist_axi.f --top-module $(TOP)_axi
	for device in $(DEVICES); do \
	  $(VERILATOR) --lint-only -Wall -f filelist_$$device.f --top-module $(TOP)_$$device || exit 1; done

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

synth:
	$(YOSYS) -q -p "read_verilog -sv -defer $(SOURCES); hierarchy -check -top $(TOP); \
	  @SYNTHESISE@; tee -q -o synth.txt stat"
	cat synth.txt

synth-device%: filelist_device%.f
	$(YOSYS) -q -p "read_verilog -sv -defer $(shell cat filelist_device$*.f); hierarchy -check -top $(TOP)_device$*; \
	  @SYNTHESISE@; tee -q -o synth_device$*.txt stat"
	cat synth_device$*.txt

vivado:
	cd vivado && $(VIVADO) -mode batch -source build.tcl $(addprefix -tclargs ,$(VIVADO_ARGS))

block-design:
	cd vivado && $(VIVADO) -mode batch -source block_design.tcl $(addprefix -tclargs ,$(BOARD))

# `mase emit --place` also moves registers into the memories' outputs, which makes the clock faster.
place:
	$(YOSYS) -q -p "read_verilog -lib @PLACE_CELLS@; read_verilog -sv -defer $(ECP5_SOURCES) place/@BOUNDARY@.sv; \
	  hierarchy -check -top @BOUNDARY@; @PLACE_SYNTHESISE@; write_json place/netlist.json"
	$(NEXTPNR) $(PLACE_ARGS) @PLACE_OPTIONS@ --freq @MHZ@ --timing-allow-fail --json place/netlist.json \
	  --report place/report.json --quiet --log place/nextpnr.log
	grep "Max frequency" place/nextpnr.log | tail -1

quartus:
	cd quartus && $(QUARTUS) -t build.tcl $(DEVICE)

radiant:
	cd radiant && $(RADIANT) build.tcl $(DEVICE)

clean:
	rm -rf sim/obj sim/obj_* synth.txt synth_device*.txt vivado/reports vivado/system place/netlist.json place/report.json place/nextpnr.log
	rm -rf quartus/db quartus/incremental_db quartus/output_files radiant/project
)";

/// Sources relative to the emitted folder, parts first.
std::vector<std::string> sources_of(std::vector<std::string> modules,
                                    const std::vector<std::string>& generated) {
  modules.insert(modules.end(), generated.begin(), generated.end());
  for (std::string& name : modules) name = "rtl/" + name + ".sv";
  return modules;
}

std::string lines_of(const std::vector<std::string>& sources) { return join(sources, "\n") + "\n"; }

/// The module and the file list of every device, none for a single one. Returns the modules.
std::vector<std::string> add_devices(const design::Design& design, const Names& names,
                                     Files& files) {
  std::vector<std::string> tops;
  for (const verilog::Module& module : device_modules(design, names)) {
    files["rtl/" + module.name + ".sv"] = verilog::print(module);
    tops.push_back(module.name);
  }
  if (tops.empty()) return tops;
  for (const DeviceScope& part : device_scopes(design, names))
    files[device_list(part.device)] =
        lines_of(sources_of(modules_used(design, part.device), {part.scope.name}));
  return tops;
}

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
  const verilog::Module wrapper = axi_module(design, names, options, number);
  files["rtl/" + wrapper.name + ".sv"] = verilog::print(wrapper);
  files["sim/axi_bench_top.sv"] = axi_bench_top_text(design, names, options);
  files["host/host.h"] = host_header(design, names, options, number);
  std::vector<std::string> tops = add_devices(design, names, files);
  tops.push_back(names.top);
  files["filelist.f"] = lines_of(sources_of(modules_used(design), tops));
  tops.push_back(wrapper.name);
  std::vector<std::string> packaged = sources_of(modules_with_axi(design), tops);
  files["filelist_axi.f"] = lines_of(packaged);
  files["Makefile"] = makefile_text(design, options);
  files["README.md"] = data_sheet(design, names, options);
  for (const design::Memory& memory : design.memories) packaged.push_back("rtl/" + memory.file);
  files["component.xml"] = component_xml(design, options, wrapper, number, packaged);
  files.merge(vivado_files(design, options, number));
  files.merge(tool_scripts(design, options));
  Files listed = files;
  listed.insert(others.begin(), others.end());
  files["design.json"] = design_json(design, names, options, listed);
  return files;
}

}  // namespace mase::emit
