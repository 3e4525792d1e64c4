# SPDX-License-Identifier: Apache-2.0
# Compilation of @TOP@ by itself, with virtual pins, for Intel's parts; in this folder:
#   quartus_sh -t build.tcl [DEVICE [axi]]     axi: with the AXI wrapper
# Of several FPGAs with a part of the design each, one is named first: build.tcl device0 DEVICE.
# Reports are in output_files. Ends with status 1 when the clock of @MHZ@ MHz is not reached.
package require ::quartus::project
package require ::quartus::device
package require ::quartus::flow
set arguments [expr {[info exists quartus(args)] ? $quartus(args) : $argv}]
@CHOOSE_DEVICE@
set device [expr {[llength $arguments] > 0 ? [lindex $arguments 0] : "5CSEBA6U23I7"}]
set top @TOP@$ending
set list ../filelist$ending.f
set clock clk
set reset rst
if {[lindex $arguments 1] eq "axi"} {
  set top @TOP@${ending}_axi
  set list ../filelist${ending}_axi.f
  set clock aclk
  set reset aresetn
}

project_new -overwrite $top
set_global_assignment -name FAMILY [lindex [get_part_info -family $device] 0]
set_global_assignment -name DEVICE $device
set_global_assignment -name TOP_LEVEL_ENTITY $top
set_global_assignment -name PROJECT_OUTPUT_DIRECTORY output_files
set file [open $list]
foreach source [read $file] { set_global_assignment -name SYSTEMVERILOG_FILE ../$source }
close $file
# $readmemh looks beside the project.
foreach image [glob -nocomplain ../rtl/*.mem] { file copy -force $image . }
set file [open $top.sdc w]
puts $file "create_clock -name $clock -period @PERIOD@ \[get_ports $clock\]"
puts $file "set_clock_uncertainty 0.100 \[get_clocks $clock\]"
puts $file "set_false_path -from \[get_ports $reset\]"
close $file
set_global_assignment -name SDC_FILE $top.sdc
set_instance_assignment -name VIRTUAL_PIN ON -to *
set_instance_assignment -name VIRTUAL_PIN OFF -to $clock
execute_flow -compile
project_close

set slacks {}
set file [open output_files/$top.sta.summary]
foreach {line setup slack} [regexp -all -inline {(Setup) '[^\n]*\n+Slack *: *([-0-9.]+)} [read $file]] {
  lappend slacks $slack
}
close $file
if {[llength $slacks] == 0} {
  puts "ERROR: output_files/$top.sta.summary has no slack of a setup check"
  exit 1
}
set slack [lindex [lsort -real $slacks] 0]
puts "$top on $device: [format %.1f [expr {1000 / (@PERIOD@ - $slack)}]] MHz"
if {$slack < 0} {
  puts "ERROR: the clock of $top is missed by [expr {-$slack}] ns"
  exit 1
}
