// SPDX-License-Identifier: Apache-2.0
// Reset in the first cycle and never again.
module reset_once (
    input  logic clk,
    output logic rst
);
  logic done;
  initial done = 1'b0;
  always_ff @(posedge clk) done <= 1'b1;
  assign rst = !done;
endmodule
