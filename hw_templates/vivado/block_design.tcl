# SPDX-License-Identifier: Apache-2.0
# A Zynq system around @TOP@_axi: the processor, a DMA for every pair of an input and an output, and the bitstream
# with its hardware handoff; in this folder:
#   vivado -mode batch -source block_design.tcl [-tclargs BOARD_PART]
# Of several devices one is named first: -tclargs device0 BOARD_PART. Its links are AXI4-Streams, which a script of yours,
# links_device0.tcl, joins to the cores that carry them, from the pins core/m_axis_... and to core/s_axis_... . Without it
# they become ports of the block design, with their clock, and no bitstream is made.
# BOARD_PART, "tul.com.tw:pynq-z2:part0:1.0" say, brings the board's memory and pins in. Result: @TOP@.bit and @TOP@.hwh
# in ../host, where the notebook looks for them. Ends with status 1 when the clock is missed.
set arguments $argv
@CHOOSE_DEVICE@
set board [lindex $arguments 0]
set part @PART@
set top @TOP@$ending
set mhz @MHZ@
# Streams and bytes of their TDATA, and links: those of each device, by the ends of names.
set inputs [dict get {@INPUTS@} $ending]
set outputs [dict get {@OUTPUTS@} $ending]
set links [dict get {@LINKS@} $ending]
set system system$ending

if {[string match "xc7z*" $part]} {
  set ps processing_system7
  set ports {clock FCLK_CLK0 reset FCLK_RESET0_N master M_AXI_GP0 slave S_AXI_HP0}
  set settings [list CONFIG.PCW_USE_S_AXI_HP0 1 CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ $mhz]
  set automation {make_external "FIXED_IO, DDR" apply_board_preset 1}
} elseif {[string match "xczu*" $part] || [string match "xck26*" $part]} {
  set ps zynq_ultra_ps_e
  set ports {clock pl_clk0 reset pl_resetn0 master M_AXI_HPM0_FPD slave S_AXI_HP0_FPD}
  set settings [list CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__USE__M_AXI_GP1 0 CONFIG.PSU__USE__M_AXI_GP2 0 \
    CONFIG.PSU__USE__S_AXI_GP2 1 CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $mhz]
  set automation {apply_board_preset 1}
} else {
  puts "ERROR: $part has no processor: emit with --part xc7z... or xczu..., or put ../component.xml into a design of yours"
  exit 1
}

# The newest version of a core that this Vivado has.
proc add {name core args} {
  set cell [create_bd_cell -type ip -vlnv [lindex [lsort -dictionary [get_ipdefs "*:*:$core:*"]] end] $name]
  if {[llength $args]} { set_property -dict $args $cell }
  return $cell
}
proc join_buses {one other} { connect_bd_intf_net [get_bd_intf_pins $one] [get_bd_intf_pins $other] }
proc join_pins {one other} { connect_bd_net [get_bd_pins $one] [get_bd_pins $other] }

# The next width that the DMA's streams have, or the widest.
proc dma_bytes {bytes} {
  set wide 1
  while {$wide < $bytes && $wide < 128} { set wide [expr {2 * $wide}] }
  return $wide
}
# From one stream to another whose beats may be wider or narrower; the bytes stay as they are.
proc join_streams {name from bytes to wanted} {
  if {$bytes != $wanted} {
    add $name axis_dwidth_converter CONFIG.S_TDATA_NUM_BYTES $bytes CONFIG.M_TDATA_NUM_BYTES $wanted CONFIG.HAS_TKEEP 1 \
      CONFIG.HAS_TLAST 1
    join_buses $from $name/S_AXIS
    set from $name/M_AXIS
  }
  join_buses $from $to
}

create_project -force $system $system -part $part
if {$board ne ""} { set_property board_part $board [current_project] }
set_property ip_repo_paths [file normalize ..] [current_project]
update_ip_catalog
create_bd_design $system

add ps $ps
if {$board eq ""} { dict set automation apply_board_preset 0 }
apply_bd_automation -rule xilinx.com:bd_rule:$ps -config $automation [get_bd_cells ps]
set_property -dict $settings [get_bd_cells ps]
add core ${top}_axi
add reset proc_sys_reset

# DMA i serves input i and output i, where they are.
set dmas [expr {max([llength $inputs], [llength $outputs]) / 2}]
set memory {}
for {set i 0} {$i < $dmas} {incr i} {
  set sends [expr {2 * $i < [llength $inputs]}]
  set receives [expr {2 * $i < [llength $outputs]}]
  add dma_$i axi_dma CONFIG.c_include_sg 0 CONFIG.c_sg_length_width 26 CONFIG.c_include_mm2s $sends CONFIG.c_include_s2mm \
    $receives
  if {$sends} {
    lassign [lrange $inputs [expr {2 * $i}] end] stream bytes
    set wide [dma_bytes $bytes]
    set_property -dict [list CONFIG.c_m_axis_mm2s_tdata_width [expr {8 * $wide}] \
      CONFIG.c_m_axi_mm2s_data_width [expr {max(32, 8 * $wide)}]] [get_bd_cells dma_$i]
    join_streams in_$i dma_$i/M_AXIS_MM2S $wide core/s_axis_$stream $bytes
    lappend memory dma_$i/M_AXI_MM2S
  }
  if {$receives} {
    lassign [lrange $outputs [expr {2 * $i}] end] stream bytes
    set wide [dma_bytes $bytes]
    set_property -dict [list CONFIG.c_m_axi_s2mm_data_width [expr {max(32, 8 * $wide)}]] [get_bd_cells dma_$i]
    join_streams out_$i core/m_axis_$stream $bytes dma_$i/S_AXIS_S2MM $wide
    lappend memory dma_$i/M_AXI_S2MM
  }
}

# Registers below the processor, its memory above the DMAs.
add registers smartconnect CONFIG.NUM_SI 1 CONFIG.NUM_MI [expr {$dmas + 1}]
if {$dmas > 0} { add transfers smartconnect CONFIG.NUM_SI [llength $memory] CONFIG.NUM_MI 1 }
join_buses ps/[dict get $ports master] registers/S00_AXI
join_buses registers/M00_AXI core/s_axi_control
for {set i 0} {$i < $dmas} {incr i} {
  join_buses registers/[format "M%02d_AXI" [expr {$i + 1}]] dma_$i/S_AXI_LITE
}
for {set i 0} {$i < [llength $memory]} {incr i} {
  join_buses [lindex $memory $i] transfers/[format "S%02d_AXI" $i]
}
if {$dmas > 0} { join_buses transfers/M00_AXI ps/[dict get $ports slave] }

# Links: joined by the user's script, or ports.
set joined [file exists links$ending.tcl]
if {$joined} {
  source links$ending.tcl
} elseif {[llength $links] > 0} {
  foreach link $links { make_bd_intf_pins_external -name $link [get_bd_intf_pins core/$link] }
  create_bd_port -dir O -type clk link_clk
  set_property CONFIG.ASSOCIATED_BUSIF [join $links :] [get_bd_ports link_clk]
  connect_bd_net [get_bd_pins ps/[dict get $ports clock]] [get_bd_ports link_clk]
}

# One clock, one reset.
foreach pin [get_bd_pins -filter {DIR == I && TYPE == clk} */*] { join_pins ps/[dict get $ports clock] $pin }
join_pins ps/[dict get $ports reset] reset/ext_reset_in
foreach pin [get_bd_pins -filter {DIR == I && TYPE == rst} */*] {
  if {![string match "*reset/*" $pin]} { join_pins reset/peripheral_aresetn $pin }
}
assign_bd_address
validate_bd_design
save_bd_design
if {!$joined && [llength $links] > 0} {
  puts "$system is a block design with the links as ports; with links$ending.tcl, which joins them, it becomes a bitstream"
  exit 0
}

set design [get_files $system.bd]
add_files -norecurse [make_wrapper -files $design -top]
set_property top ${system}_wrapper [current_fileset]
generate_target all $design
launch_runs impl_1 -to_step write_bitstream -jobs 2
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
  puts "ERROR: implementation failed; see $system/$system.runs"
  exit 1
}
set slack [get_property STATS.WNS [get_runs impl_1]]
if {$slack ne "" && $slack < 0} {
  puts "ERROR: the clock of $top is missed by [expr {-$slack}] ns"
  exit 1
}
file copy -force [lindex [glob $system/$system.runs/impl_1/*.bit] 0] ../host/$top.bit
file copy -force [lindex [glob $system/$system.*/sources_1/bd/$system/hw_handoff/$system.hwh] 0] ../host/$top.hwh
