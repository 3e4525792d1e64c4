// SPDX-License-Identifier: Apache-2.0
// Square roots are whole parts of the real ones, by counting the squares that fit, in order and one at a time.
module square_root_proof #(
    parameter int IW = 4,
    parameter int SHIFT = 1,
    parameter int ADDEND = 3,
    parameter int QW = 3
) (
    input logic clk,
    input logic in_valid,
    input logic [IW-1:0] in_data,
    input logic out_ready
);
  logic rst, in_ready, out_valid;
  logic [QW-1:0] out_data, root;
  reset_once start (
      .clk(clk),
      .rst(rst)
  );
  mase_square_root #(
      .IW(IW),
      .SHIFT(SHIFT),
      .ADDEND(64'(ADDEND)),
      .QW(QW)
  ) dut (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
  always_comb begin
    root = '0;
    for (int k = 1; k < (1 << QW); k++)
    if (32'(in_data) * 32'(1 << SHIFT) + 32'(ADDEND) >= 32'(k * k)) root = QW'(k);
  end
  queue_properties #(
      .W(QW),
      .CAPACITY(QW + 3),
      .FULL(2),
      .LATENCY(QW + 1)
  ) properties (
      .clk(clk),
      .rst(rst),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(root),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
