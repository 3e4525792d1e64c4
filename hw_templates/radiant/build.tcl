# SPDX-License-Identifier: Apache-2.0
# Implementation of @TOP@ by itself, between shift registers that take few pins (../place), for Lattice's
# Nexus and Avant parts; in this folder:
#   radiantc build.tcl [DEVICE [PERFORMANCE]]
# Of several FPGAs with a part of the design each, one is named first: build.tcl device0 DEVICE.
# Ends with status 1 when the clock of @MHZ@ MHz is not reached.
set performance 9_High-Performance_1.0V
set arguments $argv
@CHOOSE_DEVICE@
set device LIFCL-40-9BG400C
if {[llength $arguments] > 0} { set device [lindex $arguments 0] }
if {[llength $arguments] > 1} { set performance [lindex $arguments 1] }
set name @TOP@$ending
set top @BOUNDARY@$ending
set project project$ending

file delete -force $project
file mkdir $project
cd $project
prj_create -name $name -impl impl -dev $device -performance $performance -synthesis synplify
set file [open ../../filelist$ending.f]
foreach source [read $file] { prj_add_source [file normalize ../../$source] }
close $file
prj_add_source [file normalize ../../place/$top.sv]
# $readmemh looks beside the project and in the folder of the run.
file mkdir impl
foreach image [glob -nocomplain ../../rtl/*.mem] {
  file copy -force $image .
  file copy -force $image impl
}
set file [open $top.sdc w]
puts $file "create_clock -name clk -period @PERIOD@ \[get_ports clk\]"
close $file
prj_add_source $top.sdc
prj_set_impl_opt -impl impl VerilogStandard {System Verilog}
prj_set_impl_opt -impl impl top $top
prj_save
foreach step {Synthesis Map PAR} { prj_run $step -impl impl }
prj_close

set file [open impl/${name}_impl.twr]
set errors [regexp -all -inline {Timing Errors: *(\d+) endpoints} [read $file]]
close $file
if {[llength $errors] == 0} {
  puts "ERROR: $project/impl/${name}_impl.twr does not say how many timing errors there are"
  exit 1
}
foreach {text count} $errors {
  if {$count > 0} {
    puts "ERROR: the clock of $name is missed: $text"
    exit 1
  }
}
