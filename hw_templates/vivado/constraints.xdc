# @MHZ@ MHz for @TOP@ or its AXI wrapper, out of context.
create_clock -name clk -period @PERIOD@ [get_ports -quiet {clk aclk}]
set_clock_uncertainty 0.100 [get_clocks clk]
# A fifth of the period is for logic outside, on either side.
set_input_delay -clock clk @OUTSIDE@ [get_ports -quiet -filter {DIRECTION == IN && NAME !~ *clk}]
set_output_delay -clock clk @OUTSIDE@ [all_outputs]
# Nothing moves until the first beat, so registers may leave a reset in different cycles: begin a few later.
set_false_path -from [get_ports -quiet {rst aresetn}]
