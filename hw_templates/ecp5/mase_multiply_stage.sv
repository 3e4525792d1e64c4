// SPDX-License-Identifier: Apache-2.0
// mase_multiply_stage for ECP5, whose open tools put no registers into DSP blocks by themselves, and take blocks without
// registers for the narrowest products too: those are rows in LUTs here. Very wide operands are left to the tool.
module mase_multiply_stage #(
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int BW = 6,
    parameter int BSIGNED = 1,
    parameter int W = 14,
    parameter int MULTIPLIER = 0,
    parameter int COUNT = 1,
    parameter int PITCH = 0
) (
    input  logic          clk,
    input  logic          enable,
    input  logic [AW-1:0] a,
    input  logic [COUNT*BW-1:0] b,
    output logic [ W-1:0] product  // signed
);

  localparam int AX = AW + ((ASIGNED != 0) ? 0 : 1);
  localparam int PACKED = (COUNT - 1) * PITCH + BW + ((COUNT > 1) ? 1 : 0);
  localparam int BX = PACKED + ((BSIGNED != 0) ? 0 : 1);
  logic [PACKED-1:0] packed_b;
  mase_pack #(
      .COUNT(COUNT),
      .W(BW),
      .PITCH(PITCH)
  ) pack (
      .in(b),
      .out(packed_b)
  );
  if (MULTIPLIER != 2 && AX >= 2 && BX >= 2 && AX + BX >= 9 && AX <= 18 && BX <= 18) begin : g_block
    logic [17:0] whole_a, whole_b;
    logic [35:0] whole;
    if (ASIGNED != 0) begin : g_a_signed
      assign whole_a = 18'($signed(a));
    end else begin : g_a_unsigned
      assign whole_a = 18'(a);
    end
    if (BSIGNED != 0) begin : g_b_signed
      assign whole_b = 18'($signed(packed_b));
    end else begin : g_b_unsigned
      assign whole_b = 18'(packed_b);
    end
    assign product = W'($signed(whole));
    MULT18X18D #(
        .REG_INPUTA_CLK("CLK0"),
        .REG_INPUTB_CLK("CLK0"),
        .REG_OUTPUT_CLK("CLK0"),
        .GSR("DISABLED")
    ) block (
        .A0(whole_a[0]),
        .A1(whole_a[1]),
        .A2(whole_a[2]),
        .A3(whole_a[3]),
        .A4(whole_a[4]),
        .A5(whole_a[5]),
        .A6(whole_a[6]),
        .A7(whole_a[7]),
        .A8(whole_a[8]),
        .A9(whole_a[9]),
        .A10(whole_a[10]),
        .A11(whole_a[11]),
        .A12(whole_a[12]),
        .A13(whole_a[13]),
        .A14(whole_a[14]),
        .A15(whole_a[15]),
        .A16(whole_a[16]),
        .A17(whole_a[17]),
        .B0(whole_b[0]),
        .B1(whole_b[1]),
        .B2(whole_b[2]),
        .B3(whole_b[3]),
        .B4(whole_b[4]),
        .B5(whole_b[5]),
        .B6(whole_b[6]),
        .B7(whole_b[7]),
        .B8(whole_b[8]),
        .B9(whole_b[9]),
        .B10(whole_b[10]),
        .B11(whole_b[11]),
        .B12(whole_b[12]),
        .B13(whole_b[13]),
        .B14(whole_b[14]),
        .B15(whole_b[15]),
        .B16(whole_b[16]),
        .B17(whole_b[17]),
        .P0(whole[0]),
        .P1(whole[1]),
        .P2(whole[2]),
        .P3(whole[3]),
        .P4(whole[4]),
        .P5(whole[5]),
        .P6(whole[6]),
        .P7(whole[7]),
        .P8(whole[8]),
        .P9(whole[9]),
        .P10(whole[10]),
        .P11(whole[11]),
        .P12(whole[12]),
        .P13(whole[13]),
        .P14(whole[14]),
        .P15(whole[15]),
        .P16(whole[16]),
        .P17(whole[17]),
        .P18(whole[18]),
        .P19(whole[19]),
        .P20(whole[20]),
        .P21(whole[21]),
        .P22(whole[22]),
        .P23(whole[23]),
        .P24(whole[24]),
        .P25(whole[25]),
        .P26(whole[26]),
        .P27(whole[27]),
        .P28(whole[28]),
        .P29(whole[29]),
        .P30(whole[30]),
        .P31(whole[31]),
        .P32(whole[32]),
        .P33(whole[33]),
        .P34(whole[34]),
        .P35(whole[35]),
        .SIGNEDA(1'b1),
        .SIGNEDB(1'b1),
        .SOURCEA(1'b0),
        .SOURCEB(1'b0),
        .CLK0(clk),
        .CE0(enable),
        .RST0(1'b0)
    );
  end else begin : g_other
    localparam int NARROW = (MULTIPLIER == 0 && AX >= 2 && BX >= 2 && AX + BX < 9) ? 1 : 0;
    logic [AW-1:0] a_kept;
    logic [PACKED-1:0] b_kept;
    logic [W-1:0] next;
    mase_multiply #(
        .AW(AW),
        .ASIGNED(ASIGNED),
        .BW(PACKED),
        .BSIGNED(BSIGNED),
        .W(W),
        .MULTIPLIER((NARROW != 0) ? 2 : MULTIPLIER)
    ) unit (
        .a(a_kept),
        .b(b_kept),
        .product(next)
    );
    always_ff @(posedge clk)
      if (enable) begin
        a_kept  <= a;
        b_kept  <= packed_b;
        product <= next;
      end
  end

endmodule
