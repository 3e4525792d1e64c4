// SPDX-License-Identifier: Apache-2.0
// ready is that of the skid whose handshakes it sees, but in the first cycle after reset.
module ready_proof (
    input logic clk,
    input logic in_valid,
    input logic in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid, out_data, ready;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_skid #(
      .W(1)
  ) skid (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
  ecp5_mase_ready dut (
      .clk(clk),
      .skid_ready(in_ready),
      .in_valid(in_valid),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .ready(ready)
  );
  logic begun;
  initial begun = 1'b0;
  always_ff @(posedge clk) begun <= !rst;
  always_comb if (begun) assert (ready == in_ready);
endmodule
