// SPDX-License-Identifier: Apache-2.0
// mase_significands: product = a * b of unsigned numbers of few bits, combinational. Three bits by three are a LUT for
// each bit of the product; a fourth bit of either operand adds a row. Wider ones are Booth rows (mase_multiply).
module mase_significands #(
    parameter  int AW = 4,
    parameter  int BW = 4,
    localparam int W  = (AW == 1 || BW == 1) ? AW + BW - 1 : AW + BW
) (
    input  logic [AW-1:0] a,
    input  logic [BW-1:0] b,
    output logic [ W-1:0] product
);

  localparam int AL = (AW < 3) ? AW : 3;
  localparam int BL = (BW < 3) ? BW : 3;

  // The low bits' product, by adders without carry chains, which tools would make of +.
  function automatic logic [AL+BL-1:0] low_product(input logic [AL-1:0] left,
                                                   input logic [BL-1:0] right);
    logic [AL+BL-1:0] total, term;
    logic over, at;
    total = '0;
    for (int j = 0; j < BL; j++) begin
      term = right[j] ? (AL + BL)'(left) << j : '0;
      over = 1'b0;
      for (int i = 0; i < AL + BL; i++) begin
        at = total[i] ^ term[i] ^ over;
        over = (total[i] & term[i]) | (over & (total[i] | term[i]));
        total[i] = at;
      end
    end
    low_product = total;
  endfunction

  if (AW == 1) begin : g_a_bit
    assign product = {BW{a}} & b;
  end else if (BW == 1) begin : g_b_bit
    assign product = {AW{b}} & a;
  end else if (AW > 4 || BW > 4) begin : g_rows
    logic [W:0] signed_product;
    logic unused_sign;
    mase_multiply #(
        .AW(AW),
        .ASIGNED(0),
        .BW(BW),
        .BSIGNED(0),
        .MULTIPLIER(2)
    ) rows (
        .a,
        .b,
        .product(signed_product)
    );
    assign product = signed_product[W-1:0];
    assign unused_sign = signed_product[W];
  end else begin : g_table
    // The zeros below keep tools from adding both rows at once, which takes more LUTs.
    logic [AL+BL-1:0] low;
    logic [AW+BL-1:0] rows;
    assign low = low_product(a[AL-1:0], b[BL-1:0]);
    if (AW > 3) begin : g_a_row
      logic [BL:0] above;
      assign above = (BL + 1)'(({1'b0, low[AL+BL-1:AL], 1'b0}
          + {1'b0, {BL{a[AW-1]}} & b[BL-1:0], 1'b0}) >> 1);
      assign rows = {above, low[AL-1:0]};
    end else begin : g_a_low
      assign rows = low;
    end
    if (BW > 3) begin : g_b_row
      logic [AW:0] above;
      assign above = (AW + 1)'(({1'b0, rows[AW+BL-1:BL], 1'b0} + {1'b0, {AW{b[BW-1]}} & a, 1'b0}) >> 1);
      assign product = {above, rows[BL-1:0]};
    end else begin : g_b_low
      assign product = rows;
    end
  end

endmodule
