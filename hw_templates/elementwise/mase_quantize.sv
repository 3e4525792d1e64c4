// SPDX-License-Identifier: Apache-2.0
// Chooses among LEVELS, those of a number format or the results of an activation: LEVELS has COUNT + 1 words of OW bits,
// and the result is the level whose index is the number of thresholds that are at most the element. THRESHOLDS has COUNT
// words of IW + 1 bits, ascending. The highest bit is 0 for a threshold that no element reaches. The others are the
// threshold with the sign turned over where elements are signed, so that all compare as unsigned numbers. Where
// CHANNELS > 1, each channel has such words: a row is CHANNELS / LANES beats of LANES channels.
//
// The index is found bit by bit from the highest on, one stage each: the bit is set where the threshold in the middle of
// what is left is reached. Latency STAGES + 2 with the level and the skid, and a cycle more for a row of several beats.
module mase_quantize #(
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int OW = 2,
    parameter int COUNT = 1,
    parameter int CHANNELS = 1,
    parameter logic [CHANNELS*COUNT*(IW+1)-1:0] THRESHOLDS = 9'h101,
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
  localparam int BLOCKS = (CHANNELS > 1) ? CHANNELS / LANES : 1;
  localparam int BB = (BLOCKS > 1) ? $clog2(BLOCKS) : 0;

  // Thresholds of several blocks lie in memories, which are read a cycle before they are compared.
  localparam int LAST = (BB > 0) ? STAGES + 1 : STAGES;
  logic [LAST:0] valid;
  always_ff @(posedge clk)
    if (rst) valid <= '0;
    else if (in_ready) valid <= {valid[LAST-1:0], in_valid};

  // Which beat of a row each stage has.
  if (BLOCKS > 1) begin : g_blocks
    logic [BB-1:0] block[0:STAGES-1];
    always_ff @(posedge clk)
      if (rst) block[0] <= '0;
      else if (in_ready && in_valid)
        block[0] <= (block[0] == BB'(BLOCKS - 1)) ? '0 : block[0] + 1'b1;
    for (genvar k = 1; k < STAGES; k++) begin : g_stage
      always_ff @(posedge clk) if (in_ready) block[k] <= block[k-1];
    end
  end

  logic [LANES*OW-1:0] result;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    // Stage k knows the k highest bits of the index.
    for (genvar k = 0; k < STAGES; k++) begin : g_stage
      localparam int LEFT = STAGES - 1 - k;
      logic [IW-1:0] value;
      logic [IW:0] word;
      logic [k:0] index;
      if (k > 0) begin : g_later
        always_ff @(posedge clk) if (in_ready) value <= g_stage[k-1].value;
      end else if (BB > 0) begin : g_kept
        always_ff @(posedge clk) if (in_ready) value <= in_data[i*IW+:IW] ^ SIGN;
      end else begin : g_first
        assign value = in_data[i*IW+:IW] ^ SIGN;
      end
      if (k + BB == 0) begin : g_one
        localparam int ROW = (CHANNELS > 1) ? i : 0;
        assign word = THRESHOLDS[(ROW*COUNT+(1<<LEFT)-1)*(IW+1)+:IW+1];
      end else begin : g_words
        logic [IW:0] words[0:(1<<(k+BB))-1];
        initial
          for (int p = 0; p < (1 << k); p++)
            for (int b = 0; b < (1 << BB); b++)
              words[(p<<BB)+b] = ((2 * p + 1) << LEFT) <= COUNT && b < BLOCKS
                  ? THRESHOLDS[(((CHANNELS>1)?b*LANES+i:0)*COUNT+((2*p+1)<<LEFT)-1)*(IW+1)+:IW+1] : '0;
        if (BB == 0) begin : g_index
          assign word = words[g_stage[k-1].index];
        end else if (k == 0) begin : g_block
          always_ff @(posedge clk) if (in_ready) word <= words[g_blocks.block[0]];
        end else begin : g_both
          always_ff @(posedge clk)
            if (in_ready)
              word <= words[{g_stage[k-1].found, g_blocks.block[k]}];
        end
      end
      logic reached;
      assign reached = word[IW] && value >= word[IW-1:0];
      logic [k:0] found;
      if (k == 0) begin : g_top
        assign found = reached;
      end else begin : g_next
        assign found = {g_stage[k-1].index, reached};
      end
      always_ff @(posedge clk) if (in_ready) index <= found;
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
      .in_valid(valid[LAST]),
      .in_ready(in_ready),
      .in_data(result),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
