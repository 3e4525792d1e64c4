// SPDX-License-Identifier: Apache-2.0
// The place of the largest of every N * LANES elements, N beats: the first one where several are equal. A tree with
// registers behind each of its ceil(log2(LANES)) levels finds that of a beat, and one more register keeps that of the
// row so far: latency ceil(log2(LANES)) + 2 with the skid. Places need OW bits.
module mase_argmax #(
    parameter int N = 4,
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int OW = 2
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                in_valid,
    output logic                in_ready,
    input  logic [LANES*IW-1:0] in_data,
    output logic                out_valid,
    input  logic                out_ready,
    output logic [      OW-1:0] out_data
);
  localparam int LEVELS = $clog2(LANES);
  localparam int LEAVES = 1 << LEVELS;
  localparam int NODES = 2 * LEAVES - 1;
  localparam int PW = (LEVELS > 0) ? LEVELS : 1;
  // With the sign turned over, signed codes are ordered as unsigned ones.
  localparam logic [IW-1:0] SIGN = (ISIGNED != 0) ? IW'(1) << (IW - 1) : '0;

  // Node k joins nodes 2k + 1 and 2k + 2; the last LEAVES ones are the lanes, then lanes that there are not.
  logic [NODES*IW-1:0] value;
  logic [NODES*PW-1:0] place;
  for (genvar i = 0; i < LEAVES; i++) begin : g_leaf
    localparam int K = LEAVES - 1 + i;
    if (i < LANES) begin : g_lane
      assign value[K*IW+:IW] = in_data[i*IW+:IW] ^ SIGN;
    end else begin : g_none
      assign value[K*IW+:IW] = '0;
    end
    assign place[K*PW+:PW] = '0;
  end
  for (genvar k = 0; k < LEAVES - 1; k++) begin : g_node
    localparam int DEPTH = $clog2(k + 2) - 1;
    localparam int HALF = LEAVES >> (DEPTH + 1);  // lanes below each child
    localparam int FIRST = 2 * HALF * (k + 1 - (1 << DEPTH));
    localparam int A = 2 * k + 1;
    localparam int B = 2 * k + 2;
    if (FIRST >= LANES) begin : g_none
      assign value[k*IW+:IW] = '0;
      assign place[k*PW+:PW] = '0;
    end else begin : g_some
      logic [IW-1:0] larger;
      logic [PW-1:0] there;
      assign value[k*IW+:IW] = larger;
      assign place[k*PW+:PW] = there;
      if (FIRST + HALF >= LANES) begin : g_pass
        always_ff @(posedge clk)
          if (in_ready) begin
            larger <= value[A*IW+:IW];
            there  <= place[A*PW+:PW];
          end
      end else begin : g_choose
        wire second = value[B*IW+:IW] > value[A*IW+:IW];
        always_ff @(posedge clk)
          if (in_ready) begin
            larger <= second ? value[B*IW+:IW] : value[A*IW+:IW];
            there  <= second ? place[B*PW+:PW] | PW'(HALF) : place[A*PW+:PW];
          end
      end
    end
  end

  logic given, last, result_valid;  // a beat leaves the tree; it ends its row
  logic [OW-1:0] result;
  if (LEVELS == 0) begin : g_no_tree
    assign given = in_valid;
  end else begin : g_tree
    logic [LEVELS-1:0] held;
    assign given = held[LEVELS-1];
    always_ff @(posedge clk)
      if (rst) held <= '0;
      else if (in_ready) held <= LEVELS'({held, in_valid});
  end

  if (N == 1) begin : g_beat
    assign last = 1'b1;
    always_ff @(posedge clk) if (in_ready) result <= OW'(place[PW-1:0]);
  end else begin : g_row
    wire  take = given && in_ready;
    logic first;
    logic [OW-1:0] base, here;  // the place of the beat's first lane, and of its best one
    logic [IW-1:0] best;
    if (LEAVES == LANES) begin : g_bits
      assign here = base | OW'(place[PW-1:0]);
    end else begin : g_sum
      assign here = base + OW'(place[PW-1:0]);
    end
    assign last = base == OW'((N - 1) * LANES);
    always_ff @(posedge clk)
      if (rst) begin
        first <= 1'b1;
        base  <= '0;
      end else if (take) begin
        first <= last;
        base  <= last ? '0 : base + OW'(LANES);
      end
    always_ff @(posedge clk)
      if (take && (first || value[IW-1:0] > best)) begin
        best   <= value[IW-1:0];
        result <= here;
      end
  end
  always_ff @(posedge clk)
    if (rst) result_valid <= 1'b0;
    else if (in_ready) result_valid <= given && last;

  logic unused_nodes;  // lanes that there are not, and the value of the only beat
  assign unused_nodes = ^{value, place};

  mase_skid #(
      .W(OW)
  ) out_skid (
      .clk,
      .rst,
      .in_valid(result_valid),
      .in_ready,
      .in_data(result),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
