// SPDX-License-Identifier: Apache-2.0
// Pooling over windows that do not overlap (stride = kernel, no padding), as the pixels come: a
// partial result per output column and channel beat. OP 0: maximum; 1: sum. Left-over rows and
// columns are dropped. Requantises at the end.
module mase_pool #(
    parameter int H = 4,
    parameter int W = 4,
    parameter int CF = 1,
    parameter int KH = 2,
    parameter int KW = 2,
    parameter int LANES = 1,
    parameter int IW = 8,
    parameter int ISIGNED = 1,
    parameter int OP = 0,
    parameter int ACCW = 8,
    parameter int OW = 8,
    parameter int SHIFT = 0,
    parameter int DIVISOR = 1,
    parameter int ROUND = 0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127
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
  localparam int ROWS = H / KH;
  localparam int COLUMNS = W / KW;
  // With one-row windows a column's partial results are given before the next column begins.
  localparam int DEPTH = (KH == 1) ? CF : COLUMNS * CF;
  localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  localparam int CW = (CF > 1) ? $clog2(CF) : 1;
  localparam int KXW = (KW > 1) ? $clog2(KW) : 1;
  localparam int KYW = (KH > 1) ? $clog2(KH) : 1;

  wire take = in_valid && in_ready;

  // Counters are a beat ahead; what the present beat needs of its place is in registers. A dropped column
  // or row lies past the last window.
  localparam bit ONE_C = CF == 1;
  localparam bit ONE_X = ONE_C && W == 1;
  logic [CW-1:0] c;
  logic [KXW-1:0] kx;
  logic [KYW-1:0] ky;
  logic end_x, end_y, inside_x, inside_y;
  wire end_c = c == CW'(CF - 1);
  wire end_kx = kx == KXW'(KW - 1);
  wire end_ky = ky == KYW'(KH - 1);
  logic first, gives, column_counts;
  always_ff @(posedge clk)
    if (rst) begin
      c      <= ONE_C ? '0 : CW'(1);
      kx     <= (ONE_C && KW > 1) ? KXW'(1) : '0;
      ky     <= (ONE_X && KH > 1) ? KYW'(1) : '0;
      first  <= 1'b1;
      gives  <= KH == 1 && KW == 1;
      column_counts <= 1'b1;
    end else if (take) begin
      c <= end_c ? '0 : c + 1'b1;
      if (end_c) kx <= (end_kx || end_x) ? '0 : kx + 1'b1;
      if (end_c && end_x) ky <= (end_ky || end_y) ? '0 : ky + 1'b1;
      first  <= kx == '0 && ky == '0;
      gives  <= end_kx && end_ky && inside_x && inside_y;
      column_counts <= inside_x;
    end

  if (W == KW) begin : g_one_column
    assign end_x = end_kx;
    assign inside_x = 1'b1;
  end else begin : g_columns
    localparam int XW = $clog2(W);
    logic [XW-1:0] x;
    assign end_x = x == XW'(W - 1);
    always_ff @(posedge clk)
      if (rst) x <= ONE_C ? XW'(1) : '0;
      else if (take && end_c) x <= end_x ? '0 : x + 1'b1;
    if (COLUMNS * KW == W) begin : g_all
      assign inside_x = 1'b1;
    end else begin : g_some
      assign inside_x = x < XW'(COLUMNS * KW);
    end
  end
  if (ROWS * KH == H) begin : g_whole_rows
    assign end_y = end_ky;
    assign inside_y = 1'b1;
  end else begin : g_rows
    localparam int YW = $clog2(H);
    logic [YW-1:0] y;
    assign end_y = y == YW'(H - 1);
    assign inside_y = y < YW'(ROWS * KH);
    always_ff @(posedge clk)
      if (rst) y <= ONE_X ? YW'(1) : '0;
      else if (take && end_c && end_x) y <= end_y ? '0 : y + 1'b1;
  end

  wire keep = take && column_counts;
  logic [1:0] valid;  // of `total` and of what is rounded
  logic [LANES*ACCW-1:0] partial, sum, total;
  logic [LANES*OW-1:0] requantised;
  for (genvar l = 0; l < LANES; l++) begin : g_lane
    wire signed [ACCW-1:0] part = $signed(partial[l*ACCW+:ACCW]);
    wire signed [ACCW-1:0] x;
    if (ISIGNED != 0) begin : g_signed
      assign x = ACCW'($signed(in_data[l*IW+:IW]));
    end else begin : g_unsigned
      assign x = ACCW'($signed({1'b0, in_data[l*IW+:IW]}));
    end
    if (OP == 0) begin : g_max
      logic greater;
      mase_less #(
          .W(ACCW)
      ) compare (
          .a(part),
          .b(x),
          .less(greater)
      );
      assign sum[l*ACCW+:ACCW] = (first || greater) ? x : part;
    end else begin : g_sum
      assign sum[l*ACCW+:ACCW] = $unsigned(x) + ($unsigned(part) & {ACCW{!first}});
    end
    mase_requantise_stage #(
        .IW(ACCW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .LOW(LOW),
        .HIGH(HIGH)
    ) result (
        .clk,
        .enable(in_ready),
        .in(total[l*ACCW+:ACCW]),
        .out(requantised[l*OW+:OW])
    );
  end

  if (KH == 1 && KW == 1) begin : g_no_state
    assign partial = '0;
  end else if (DEPTH == 1) begin : g_register
    // The result register is free while a partial result waits: it keeps both.
    assign partial = total;
  end else begin : g_memory
    // The next beat's partial result is read while this one's is written.
    (* ram_style = "distributed" *) logic [LANES*ACCW-1:0] mem[0:DEPTH-1];
    logic [AW-1:0] slot, next;
    logic same;  // the next beat goes on with this one's
    wire back = KH > 1 && end_c && !end_kx;  // to the column's first beat, until its last pixel
    wire again = end_c && (KH == 1 || end_x);
    always_ff @(posedge clk) if (keep) mem[slot] <= sum;
    always_ff @(posedge clk)
      if (rst) begin
        slot <= '0;
        next <= (ONE_C && KW > 1) ? '0 : AW'(1);
        same <= ONE_C && KW > 1;
      end else if (take) begin
        slot <= next;
        next <= again ? '0 : back ? next - AW'(CF - 1) : next + 1'b1;
        same <= ONE_C && back && !again;
      end
    always_ff @(posedge clk) if (take) partial <= same ? sum : mem[next];
  end

  always_ff @(posedge clk)
    if (rst) valid <= '0;
    else if (in_ready) valid <= {valid[0], take && gives};
  always_ff @(posedge clk) if (keep) total <= sum;

  mase_skid #(
      .W(LANES * OW)
  ) out_skid (
      .clk,
      .rst,
      .in_valid(valid[1]),
      .in_ready,
      .in_data(requantised),
      .out_valid,
      .out_ready,
      .out_data
  );
endmodule
