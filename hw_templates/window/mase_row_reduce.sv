// SPDX-License-Identifier: Apache-2.0
// The maximum (OP 0), the sum (OP 1) or the greatest magnitude (OP 2) of every N * LANES elements, N beats. A tree with registers behind each of its
// ceil(log2(LANES)) levels makes that of a beat, and one more register keeps that of the row so far: latency
// ceil(log2(LANES)) + 2 with the skid. Maxima and sums are signed when elements are.
module mase_row_reduce #(
    parameter int N = 4,
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int OP = 0,
    parameter int OW = 8
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
  // With the sign turned over, signed codes are ordered as unsigned ones.
  localparam logic [OW-1:0] SIGN = (OP == 0 && ISIGNED != 0) ? OW'(1) << (OW - 1) : '0;

  // Level l has ceil(LANES / 2^l) nodes.
  for (genvar l = 0; l <= LEVELS; l++) begin : g_level
    localparam int NODES = (LANES + (1 << l) - 1) >> l;
    logic [NODES*OW-1:0] value;
    if (l == 0) begin : g_lanes
      for (genvar i = 0; i < LANES; i++) begin : g_lane
        if (ISIGNED != 0 && OP == 2) begin : g_magnitude
          wire [IW-1:0] element = in_data[i*IW+:IW];
          assign value[i*OW+:OW] = OW'(element[IW-1] ? -element : element);
        end else if (ISIGNED != 0) begin : g_signed
          assign value[i*OW+:OW] = OW'($signed(in_data[i*IW+:IW])) ^ SIGN;
        end else begin : g_unsigned
          assign value[i*OW+:OW] = OW'(in_data[i*IW+:IW]);
        end
      end
    end else begin : g_nodes
      localparam int BELOW = (LANES + (1 << (l - 1)) - 1) >> (l - 1);
      for (genvar i = 0; i < NODES; i++) begin : g_node
        logic [OW-1:0] a, next;
        assign a = g_level[l-1].value[2*i*OW+:OW];
        if (2 * i + 1 < BELOW) begin : g_join
          logic [OW-1:0] b;
          assign b = g_level[l-1].value[(2*i+1)*OW+:OW];
          assign next = (OP == 1) ? a + b : (b > a) ? b : a;
        end else begin : g_pass
          assign next = a;
        end
        logic [OW-1:0] kept;
        always_ff @(posedge clk) if (in_ready) kept <= next;
        assign value[i*OW+:OW] = kept;
      end
    end
  end

  logic given, last, result_valid;  // a beat leaves the tree; it ends its row
  logic [OW-1:0] beat, result;
  assign beat = g_level[LEVELS].value;
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
    always_ff @(posedge clk) if (in_ready) result <= beat;
  end else begin : g_row
    localparam int NB = $clog2(N);
    logic [NB-1:0] index;
    wire take = given && in_ready;
    wire first = index == '0;
    assign last = index == NB'(N - 1);
    always_ff @(posedge clk)
      if (rst) index <= '0;
      else if (take) index <= last ? '0 : index + 1'b1;
    if (OP == 1) begin : g_sum
      always_ff @(posedge clk) if (take) result <= beat + (first ? '0 : result);
    end else begin : g_max
      always_ff @(posedge clk) if (take && (first || beat > result)) result <= beat;
    end
  end
  always_ff @(posedge clk)
    if (rst) result_valid <= 1'b0;
    else if (in_ready) result_valid <= given && last;

  mase_skid #(
      .W(OW)
  ) out_skid (
      .clk,
      .rst,
      .in_valid(result_valid),
      .in_ready,
      .in_data(result ^ SIGN),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
