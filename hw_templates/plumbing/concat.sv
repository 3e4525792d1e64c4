// Puts streams one after another: A_BEATS beats of a, then B_BEATS beats of b, again and again.
module concat #(
    parameter int W = 8,
    parameter int A_BEATS = 1,
    parameter int B_BEATS = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         a_valid,
    output logic         a_ready,
    input  logic [W-1:0] a_data,
    input  logic         b_valid,
    output logic         b_ready,
    input  logic [W-1:0] b_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  localparam int CW = $clog2(A_BEATS + B_BEATS);
  localparam logic [CW-1:0] LAST = CW'(A_BEATS + B_BEATS - 1);

  logic [CW-1:0] index;
  logic second, enable, valid;
  assign second = index >= CW'(A_BEATS);
  assign a_ready = enable && !second;
  assign b_ready = enable && second;
  assign valid = second ? b_valid : a_valid;

  always_ff @(posedge clk) begin
    if (rst) index <= '0;
    else if (valid && enable) index <= (index == LAST) ? '0 : index + 1'b1;
  end

  skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid),
      .in_ready(enable),
      .in_data(second ? b_data : a_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
