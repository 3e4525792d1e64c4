// SPDX-License-Identifier: Apache-2.0
// Texts for make, and the files that belong to the top.
#include "hardware/emit/scripts.hpp"

#include "base/text.hpp"
#include "hardware/emit/axi.hpp"
#include "hardware/emit/design_json.hpp"
#include "hardware/emit/families.hpp"
#include "hardware/emit/ip_package.hpp"
#include "hardware/emit/place.hpp"
#include "hardware/emit/templates.hpp"
#include "hardware/emit/tool_scripts.hpp"
#include "hardware/emit/top.hpp"
#include "hardware/emit/vivado.hpp"

namespace mase::emit {
namespace {

constexpr const char* makefile =
    R"(# Checks, simulates and synthesises this design with nothing but Verilator, g++ and Yosys:
# make lint, make sim (arguments of the bench in ARGS), make sim-axi (the AXI wrapper with the driver of
# host/), make synth, make vivado (VIVADO_ARGS=axi: with the wrapper), make block-design (a Zynq system with its
# bitstream; BOARD=vendor:board:part0:version), make place (nextpnr for ECP5), make quartus, make radiant (DEVICE=...).
TOP := @TOP@
ARGS ?= --stall-spell @SPELL@ --watchdog @WATCHDOG@
VERILATOR ?= verilator
YOSYS ?= yosys
NEXTPNR ?= nextpnr-ecp5
PLACE_ARGS ?= @PLACE_DEVICE@
VIVADO ?= vivado
QUARTUS ?= quartus_sh
RADIANT ?= radiantc
SOURCES := $(shell cat filelist.f)
# Of a module that has a text of its own for ECP5, that.
ECP5_SOURCES := $(foreach source,$(SOURCES),$(or $(wildcard $(source:rtl/%=ecp5/%)),$(source)))
AXI_SOURCES := $(shell cat filelist_axi.f)

.PHONY: lint sim sim-axi synth vivado block-design place quartus radiant clean

lint:
	$(VERILATOR) --lint-only -Wall -f filelist.f --top-module $(TOP)
	$(VERILATOR) --lint-only -Wall -f filelist_axi.f --top-module $(TOP)_axi

# The bench reads the memory images from where it is started.
sim: sim/obj/bench
	cd rtl && ../sim/obj/bench $(ARGS)

sim/obj/bench: $(SOURCES) sim/bench_top.sv $(wildcard sim/*.cpp sim/*.hpp)
	cd sim && $(VERILATOR) @BUILD@ \
	  @MODEL@ --Mdir obj -o bench \
	  -CFLAGS "@CFLAGS@" -MAKEFLAGS "@MAKEFLAGS@" \
	  $(addprefix ../,$(SOURCES)) bench_top.sv @SOURCE@

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
	rm -rf sim/obj sim/obj_* synth.txt vivado/reports vivado/system place/netlist.json place/report.json place/nextpnr.log
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
  return filled(makefile, {{"TOP", names_of(design).top},
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
  files["filelist.f"] = lines_of(sources_of(modules_used(design), {names.top}));
  std::vector<std::string> packaged =
      sources_of(modules_with_axi(design), {names.top, wrapper.name});
  files["filelist_axi.f"] = lines_of(packaged);
  files["Makefile"] = makefile_text(design, options);
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
