// SPDX-License-Identifier: Apache-2.0
// Rounds elements to the LEVELS of a number format: LEVELS has COUNT + 1 words of OW bits, THRESHOLDS has COUNT words of
// IW bits, ascending, and the result is the level whose index is the number of thresholds that are at most the element.
// Thresholds are given with the sign turned over where elements are signed, so that all compare as unsigned numbers.
//
// The index is found bit by bit from the highest on, one stage each: the bit is set where the threshold in the middle of
// what is left is reached. Latency STAGES + 2 with the level and the skid.
module mase_quantize #(
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int OW = 2,
    parameter int COUNT = 1,
    parameter logic [COUNT*IW-1:0] THRESHOLDS = 8'd1,
    parameter logic [(COUNT+1)*OW-1:0] LEVELS = '0
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*IW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [LANES*OW-1:0] out_data
);
  localparam int STAGES = $clog2(COUNT + 1);
  localparam logic [IW-1:0] SIGN = (ISIGNED != 0) ? IW'(1) << (IW - 1) : '0;

  logic [STAGES:0] valid;
  always_ff @(posedge clk)
    if (rst) valid <= '0;
    else if (in_ready) valid <= {valid[STAGES-1:0], in_valid};

  logic [LANES*OW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    // Stage k knows the k highest bits of the index.
    for (genvar k = 0; k < STAGES; k++) begin : g_stage
      localparam int LEFT = STAGES - 1 - k;
      logic [IW-1:0] value;
      logic [IW:0] word;  // the highest bit: there is such a threshold
      logic [k:0] index;
      if (k == 0) begin : g_first
        assign value = in_data[i*IW+:IW] ^ SIGN;
        assign word = {1'b1, THRESHOLDS[((1<<LEFT)-1)*IW+:IW]};
      end else begin : g_later
        logic [IW:0] words[0:(1<<k)-1];
        initial
          for (int p = 0; p < (1 << k); p++)
            words[p] = ((2 * p + 1) << LEFT) <= COUNT
                ? {1'b1, THRESHOLDS[(((2*p+1)<<LEFT)-1)*IW+:IW]} : '0;
        always_ff @(posedge clk) if (in_ready) value <= g_stage[k-1].value;
        assign word = words[g_stage[k-1].index];
      end
      logic reached;
      assign reached = word[IW] && value >= word[IW-1:0];
      if (k == 0) begin : g_top
        always_ff @(posedge clk) if (in_ready) index <= reached;
      end else begin : g_next
        always_ff @(posedge clk) if (in_ready) index <= {g_stage[k-1].index, reached};
      end
    end

    logic [OW-1:0] levels[0:(1<<STAGES)-1];
    initial for (int n = 0; n < (1 << STAGES); n++) levels[n] = n <= COUNT ? LEVELS[n*OW+:OW] : '0;
    always_ff @(posedge clk) if (in_ready) result[i*OW+:OW] <= levels[g_stage[STAGES-1].index];
  end

  mase_skid #(
      .W(LANES * OW)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid[STAGES]),
      .in_ready(in_ready),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
