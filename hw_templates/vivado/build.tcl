# SPDX-License-Identifier: Apache-2.0
# Synthesis and implementation of @TOP@ by itself (out of context), with reports; in this folder:
#   vivado -mode batch -source build.tcl                 the bare top
#   vivado -mode batch -source build.tcl -tclargs axi    with its AXI wrapper
# Of several devices one is named first: -tclargs device0, or -tclargs device0 axi.
# Ends with status 1 when the clock of @TOP@.xdc is not reached.
set part @PART@
set arguments $argv
@CHOOSE_DEVICE@
set wrapper [expr {[lindex $arguments 0] eq "axi" ? "_axi" : ""}]
set top @TOP@$ending$wrapper
set list ../filelist$ending$wrapper.f
set reports reports$ending
file mkdir $reports
file delete $reports/design.txt
set file [open $list]
foreach source [read $file] { read_verilog -sv ../$source }
close $file
foreach image [lsort [glob -nocomplain ../rtl/*.mem]] { read_mem $image }
read_xdc -mode out_of_context @TOP@.xdc

synth_design -top $top -part $part -mode out_of_context -flatten_hierarchy rebuilt
report_utilization -hierarchical -file $reports/utilization_synth.txt
opt_design
place_design
phys_opt_design
route_design
report_utilization -file $reports/utilization.txt
report_utilization -hierarchical -file $reports/utilization_hierarchy.txt
report_timing_summary -file $reports/timing.txt
report_power -file $reports/power.txt
write_checkpoint -force $reports/$top.dcp

# What the reports are of: mase reads them for just this design.
set file [open $reports/design.txt w]
puts $file "@NUMBER@ $top"
close $file
set slack [get_property SLACK [get_timing_paths -max_paths 1]]
if {$slack ne "" && $slack < 0} {
  puts "ERROR: the clock of $top is missed by [expr {-$slack}] ns"
  exit 1
}
