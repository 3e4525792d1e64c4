// SPDX-License-Identifier: Apache-2.0
// Takes the place of the FIFO in a test: the AXI4-Stream wrapper of a skid of 8 bits with frames of 4
// beats. TLAST goes in every DEPTH beats. Data is inverted after a TLAST error, or with a TLAST or
// TKEEP that is wrong on the way out.
module mase_fifo #(
    parameter int W = 8,
    parameter int DEPTH = 4
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [W-1:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  logic [2:0] sent, given;
  logic error, last, keep;
  logic [W-1:0] data;

  one_skid_axi wrapper (
      .aclk(clk),
      .aresetn(!rst),
      .tlast_error(error),
      .s_axis_x_tvalid(in_valid),
      .s_axis_x_tready(in_ready),
      .s_axis_x_tdata(in_data),
      .s_axis_x_tlast(sent == 3'(DEPTH - 1)),
      .m_axis_y_tvalid(out_valid),
      .m_axis_y_tready(out_ready),
      .m_axis_y_tdata(data),
      .m_axis_y_tkeep(keep),
      .m_axis_y_tlast(last)
  );
  assign out_data = (error || !keep || last != (given == 3'd3)) ? ~data : data;

  always_ff @(posedge clk) begin
    if (rst) sent <= '0;
    else if (in_valid && in_ready) sent <= (sent == 3'(DEPTH - 1)) ? '0 : sent + 1'b1;
  end
  always_ff @(posedge clk) begin
    if (rst) given <= '0;
    else if (out_valid && out_ready) given <= (given == 3'd3) ? '0 : given + 1'b1;
  end
endmodule
