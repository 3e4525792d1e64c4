// SPDX-License-Identifier: Apache-2.0
// mase_products: sums of SIMD products per step over the steps of a row, requantised: what mase_multiply_accumulate
// and mase_matmul have in common. ROWS rows of weights follow each other; a row gives one beat of PE results, each the sum
// of its products plus bias, or START where there is none. HALVED says that biases and START have half of the divisor in
// them, which rounding to nearest adds. Operands and words of weights are offered a cycle after `step` and hold while enable
// is low: SHARES times SIMD operands, each SIMD for as many PE that follow each other; weight p, c at bit (p*SIMD + c)*WW.
//
// Stages, all moved by one enable, the registered ready of the output's skid (of multipliers see mase_ready): operands and weights, the same once more
// (Booth rows do without), products, TREE stages of additions (see mase_dot), accumulator, rounding; the choice of a bound feeds
// the skid. A beat that is not held up is at the output 7 + TREE cycles after the last step of its row, 6 + TREE with Booth rows;
// PRODUCT_STAGES registers more between the tool's multipliers and what adds their products delay it by as many. Operands that are
// short codes (see mase_dot) become numbers in front of the tool's multipliers, and with DECODE in front of Booth rows; otherwise
// a beat is at the output TERM_STAGES - 1 cycles later than with Booth rows.
//
// The operands that a dot product reads may share an exponent of AEXP bits, and its weights one of WEXP bits: DOTW bits of the sum of
// products are shifted left by their sum, in one more stage. These exponents stand above all operands, and above all weights. Above
// that of operands stands a factor of AFACTOR bits, above that of weights one of WFACTOR bits, which they share, too; the sum is
// multiplied by both in a stage in front of the shift.
module mase_products #(
    parameter int ROWS = 8,
    parameter int SHARES = 1,
    parameter int SIMD = 8,
    parameter int PE = 8,
    parameter int AW = 8,
    parameter int ASIGNED = 1,
    parameter int WW = 6,
    parameter int WSIGNED = 1,
    parameter int HAS_BIAS = 1,
    parameter int BW = 16,
    parameter int ACCW = 20,
    parameter int OW = 8,
    parameter int SHIFT = 8,
    parameter int DIVISOR = 1,
    parameter int ROUND = 1,
    parameter int HALVED = 0,
    parameter logic signed [63:0] START = 64'sd0,
    parameter logic signed [63:0] LOW = -64'sd128,
    parameter logic signed [63:0] HIGH = 64'sd127,
    parameter int MULTIPLIER = 0,
    parameter int PACK = 1,  // outputs whose weights share a multiplier: see mase_dot_packed
    parameter int PITCH = 0,
    parameter int KNOWN = 0,
    parameter int AFLOAT = -1,  // operands that are short codes: see mase_dot
    parameter int AZERO = 1,
    parameter int AN = 8,
    parameter int WFLOAT = -1,
    parameter int WZERO = 1,
    parameter int WN = 8,
    parameter int UNIT = 0,  // bits that all products are shifted left by
    parameter int TERM_STAGES = 0,
    parameter int DECODE = 0,  // short codes become numbers in front of Booth rows, too
    parameter int AEXP = 0,  // bits of the exponents of operands and of weights; 0: they have none
    parameter int WEXP = 0,
    parameter int AFACTOR = 0,  // bits of the factors of operands and of weights that have exponents; 0: none
    parameter int WFACTOR = 0,
    parameter int DOTW = 0,  // bits of a sum of products in front of the shift
    parameter int PRODUCT_STAGES = 0,
`ifdef MASE_RELOAD
    parameter int BIAS_BASE = 0,
`endif
    parameter BIAS_FILE = "",
    localparam int ASCALE = AEXP + AFACTOR,
    localparam int XW = SHARES * (SIMD * AW + ASCALE),
    localparam int WSCALE = WEXP + WFACTOR,
    localparam int WORD = PE * (SIMD * WW + WSCALE)
) (
    input  logic             clk,
    input  logic             rst,
`ifdef MASE_RELOAD
    input  logic [56:0]      reload,
`endif
    output logic             enable,
    input  logic             step,       // only while enabled
    input  logic             row_start,  // of the step: the first one of its row, the last one
    input  logic             row_end,
    input  logic [XW-1:0]    x,
    input  logic [WORD-1:0]  words,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [PE*OW-1:0] out_data
);

  localparam int LEVELS = $clog2(SIMD);
  localparam int BOOTH_TREE = (LEVELS <= 2) ? 1 : 2 + (LEVELS - 2) / 2;
  localparam int CHAIN_TREE = (SIMD < 8) ? (SIMD + 1) / 2 : 4 + $clog2((SIMD + 7) / 8);
  // The tool's multipliers take numbers.
  localparam int NUMBERS = (MULTIPLIER != 2 || DECODE != 0) ? 1 : 0;
  localparam int CODED = (NUMBERS == 0 && (AFLOAT >= 0 || WFLOAT >= 0)) ? 1 : 0;
  localparam int FLOAT_TREE = BOOTH_TREE + TERM_STAGES - 1;
  localparam int TREE = (MULTIPLIER != 2) ? CHAIN_TREE : (CODED != 0) ? FLOAT_TREE : BOOTH_TREE;
  localparam int UNPACK = (PACK > 1 && KNOWN > 1) ? 1 : 0;
  localparam int SCALED = (AEXP > 0 || WEXP > 0) ? 1 : 0;
  // The stage of the sums; the accumulator follows.
  localparam int FACTORED = (AFACTOR > 0 || WFACTOR > 0) ? 1 : 0;
  localparam int LAST = ((MULTIPLIER == 2) ? 3 : 4 + PRODUCT_STAGES) + TREE + UNPACK + FACTORED + SCALED;

  localparam int READERS = PE / SHARES;  // of an operand

  // A is what operands are from here on, B what weights are.
  localparam int ADECODED = (NUMBERS != 0 && AFLOAT >= 0) ? 1 : 0;
  localparam int BDECODED = (NUMBERS != 0 && WFLOAT >= 0) ? 1 : 0;
  localparam int A = (ADECODED != 0) ? AN : AW;
  localparam int B = (BDECODED != 0) ? WN : WW;
  localparam int AWORD = SHARES * SIMD * A;
  localparam int BWORD = PE * SIMD * B;
  logic [AWORD-1:0] numbers;
  logic [BWORD-1:0] weight_numbers;
  if (ADECODED != 0) begin : g_decode
    for (genvar i = 0; i < SHARES * SIMD; i++) begin : g_lane
      mase_decode #(
          .W(AW),
          .SIGNED(ASIGNED),
          .FLOAT(AFLOAT),
          .ZERO(AZERO),
          .OW(A)
      ) decode (
          .code(x[i*AW+:AW]),
          .number(numbers[i*A+:A])
      );
    end
  end else begin : g_as_they_are
    assign numbers = x[AWORD-1:0];
  end
  if (BDECODED != 0) begin : g_decode_weights
    for (genvar i = 0; i < PE * SIMD; i++) begin : g_lane
      mase_decode #(
          .W(WW),
          .SIGNED(WSIGNED),
          .FLOAT(WFLOAT),
          .ZERO(WZERO),
          .OW(B)
      ) decode (
          .code(words[i*WW+:WW]),
          .number(weight_numbers[i*B+:B])
      );
    end
  end else begin : g_weights_as_they_are
    assign weight_numbers = words[BWORD-1:0];
  end

  // Block memories give their words late in the cycle.
  logic [BWORD-1:0] weights;
  logic [AWORD-1:0] operands;
  always_ff @(posedge clk) if (enable) weights <= weight_numbers;
  mase_operands #(
      .W(AWORD),
      .SHARED((READERS > 1) ? 1 : 0)
  ) kept_operands (
      .clk,
      .rst,
      .enable,
      .in(numbers),
      .out(operands)
  );

  // What travels with a step: bit i belongs to stage i.
  logic [LAST:1] valid;
  logic [LAST:1] first;
  logic [LAST:1] last;
  logic acc_last, rounded_last;
  always_ff @(posedge clk) begin
    if (rst) begin
      valid <= '0;
      acc_last <= 1'b0;
      rounded_last <= 1'b0;
    end else if (enable) begin
      valid <= {valid[LAST-1:1], step};
      acc_last <= valid[LAST] && last[LAST];
      rounded_last <= acc_last;
    end
  end
  always_ff @(posedge clk)
    if (enable) begin
      first <= {first[LAST-1:1], row_start};
      last  <= {last[LAST-1:1], row_end};
    end

  // The biases are read two stages before their use.
  logic [PE*ACCW-1:0] biases;
  if (HAS_BIAS != 0) begin : g_bias
    localparam int RB = (ROWS > 1) ? $clog2(ROWS) : 1;
    logic [RB-1:0] address;
    logic [PE*BW-1:0] read_words, bias_words;
    logic next;
    assign next = enable && valid[LAST-2] && first[LAST-2];
    always_ff @(posedge clk)
      if (rst) address <= '0;
      else if (next) address <= (address == RB'(ROWS - 1)) ? '0 : address + 1'b1;
    mase_rom #(
`ifdef MASE_RELOAD
        .BASE(BIAS_BASE),
`endif
        .W(PE * BW),
        .DEPTH(ROWS),
        .FILE(BIAS_FILE),
        .BLOCK((ROWS >= 8 && ROWS * PE * BW >= 1024) ? 1 : 0)
    ) bias_rom (
        .clk,
`ifdef MASE_RELOAD
        .reload,
`endif
        .enable,
        .address,
        .data(read_words)
    );
    always_ff @(posedge clk) if (enable) bias_words <= read_words;
    for (genvar p = 0; p < PE; p++) begin : g_extend
      assign biases[p*ACCW+:ACCW] = ACCW'($signed(bias_words[p*BW+:BW]));
    end
  end else begin : g_no_bias
`ifdef MASE_RELOAD
    logic unused_reload;
    assign unused_reload = ^reload;
`endif
    assign biases = {PE{ACCW'(START)}};
  end

  // Operands as mase_dot wants them; shared ones are made late once.
  logic [AWORD-1:0] late_operands;
  logic [BWORD-1:0] late_weights;
  if (MULTIPLIER == 2 || SIMD <= 2) begin : g_together
    assign late_operands = operands;
    assign late_weights  = weights;
  end else begin : g_skewed
    for (genvar s = 0; s < SHARES; s++) begin : g_operands
      mase_dot_skew #(
          .SIMD(SIMD),
          .W(A),
          .SHARED((READERS > 1) ? 1 : 0)
      ) skew (
          .clk,
          .rst,
          .enable,
          .in(operands[s*SIMD*A+:SIMD*A]),
          .out(late_operands[s*SIMD*A+:SIMD*A])
      );
    end
    for (genvar p = 0; p < PE; p++) begin : g_weights
      mase_dot_skew #(
          .SIMD(SIMD),
          .W(B),
          .SHARED((PACK > 1) ? 2 : 0)
      ) skew (
          .clk,
          .rst,
          .enable,
          .in(weights[p*SIMD*B+:SIMD*B]),
          .out(late_weights[p*SIMD*B+:SIMD*B])
      );
    end
  end

  // DSP blocks stand in few columns, far from the rest of the pipeline.
  logic multiply;
  if (MULTIPLIER == 2) begin : g_near
    assign multiply = enable;
  end else begin : g_far
    mase_ready own (
        .clk,
        .skid_ready(enable),
        .in_valid(rounded_last),
        .out_valid,
        .out_ready,
        .ready(multiply)
    );
  end

  // The exponents of the sums that are shifted in this cycle.
  localparam int EW = (AEXP > 0 && WEXP > 0) ? ((AEXP > WEXP) ? AEXP : WEXP) + 1 : (SCALED != 0) ? AEXP + WEXP : 1;
  logic [PE*EW-1:0] exponents;
  if (SCALED != 0) begin : g_exponents
    logic [PE*EW-1:0] early, next;
    for (genvar p = 0; p < PE; p++) begin : g_pe
      logic [EW-1:0] of_operands, of_weights;
      if (AEXP > 0) begin : g_of_operands
        assign of_operands = EW'(x[SHARES*SIMD*AW+p/READERS*ASCALE+:AEXP]);
      end else begin : g_no_operands
        assign of_operands = '0;
      end
      if (WEXP > 0) begin : g_of_weights
        assign of_weights = EW'(words[PE*SIMD*WW+p*WSCALE+:WEXP]);
      end else begin : g_no_weights
        assign of_weights = '0;
      end
      assign next[p*EW+:EW] = of_operands + of_weights;
    end
    always_ff @(posedge clk) if (enable) early <= next;
    mase_delay #(
        .W(PE * EW),
        .STAGES(LAST - 3)
    ) travel (
        .clk,
        .enable,
        .in(early),
        .out(exponents)
    );
  end else begin : g_no_exponents
    logic unused_exponents;
    assign exponents = '0;
    assign unused_exponents = ^exponents;
  end

  // The factors of the sums that are multiplied in this cycle.
  localparam int FW = (FACTORED != 0) ? AFACTOR + WFACTOR : 1;
  logic [PE*FW-1:0] factors;
  if (FACTORED != 0) begin : g_factors
    logic [PE*FW-1:0] early, next;
    for (genvar p = 0; p < PE; p++) begin : g_pe
      if (WFACTOR == 0) begin : g_of_operands
        always_ff @(posedge clk)
          if (enable)
            early[p*FW+:FW] <= x[SHARES*SIMD*AW+p/READERS*ASCALE+AEXP+:FW];
        assign next[p*FW+:FW] = early[p*FW+:FW];
      end else if (AFACTOR == 0) begin : g_of_weights
        always_ff @(posedge clk) if (enable) early[p*FW+:FW] <= words[PE*SIMD*WW+p*WSCALE+WEXP+:FW];
        assign next[p*FW+:FW] = early[p*FW+:FW];
      end else begin : g_of_both
        logic [AFACTOR-1:0] a;
        logic [WFACTOR-1:0] w;
        assign a = early[p*FW+:AFACTOR];
        assign w = early[p*FW+AFACTOR+:WFACTOR];
        always_ff @(posedge clk)
          if (enable) begin
            early[p*FW+:AFACTOR] <= x[SHARES*SIMD*AW+p/READERS*ASCALE+AEXP+:AFACTOR];
            early[p*FW+AFACTOR+:WFACTOR] <= words[PE*SIMD*WW+p*WSCALE+WEXP+:WFACTOR];
          end
        always_comb begin
          next[p*FW+:FW] = '0;
          for (int k = 0; k < WFACTOR; k++)
          if (w[k]) next[p*FW+:FW] = next[p*FW+:FW] + (FW'(a) << k);
        end
      end
    end
    mase_delay #(
        .W(PE * FW),
        .STAGES(LAST - 4)
    ) travel (
        .clk,
        .enable,
        .in(next),
        .out(factors)
    );
  end else begin : g_no_factors
    logic unused_factors;
    assign factors = '0;
    assign unused_factors = ^factors;
  end

  // Packs of outputs that read the same operands; the last of them may be smaller.
  logic [PE*ACCW-1:0] sums;
  logic [PE-1:0] carries;
  for (genvar p = 0; p < PE; p++) begin : g_products
    if (PACK == 1) begin : g_one
      // Ones below the sum make the carry one of its units.
      localparam int TW = (SCALED != 0) ? DOTW : ACCW - UNIT;
      logic [TW-1:0] total;
      logic carry;
      if (SCALED != 0) begin : g_scaled
        logic [ACCW-1:0] aligned, shifted, kept;
        logic kept_carry, last_carry;
        logic [TW+UNIT-1:0] whole;
        if (UNIT > 0) begin : g_unit_of_blocks
          assign whole = {total, {UNIT{carry}}};
        end else begin : g_whole_of_blocks
          assign whole = total;
        end
        if (FACTORED != 0) begin : g_factor
          localparam int MW = TW + UNIT + FW;
          logic [FW-1:0] factor;
          localparam int LOW_BITS = (FW > 4) ? FW / 2 : FW;
          logic [MW-1:0] low, high, multiplied;
          assign factor = factors[p*FW+:FW];
          always_comb begin
            low  = carry ? MW'(factor) : '0;
            high = '0;
            for (int k = 0; k < LOW_BITS; k++)
            if (factor[k]) low = low + (MW'($signed(whole)) << k);
            for (int k = LOW_BITS; k < FW; k++)
            if (factor[k]) high = high + (MW'($signed(whole)) << k);
          end
          always_ff @(posedge clk) if (enable) multiplied <= low + high;
          assign aligned = ACCW'($signed(multiplied));
          assign last_carry = 1'b0;
          // Bits above the accumulator are those of the sign.
          if (MW > ACCW) begin : g_above
            logic unused_above;
            assign unused_above = ^multiplied[MW-1:ACCW];
          end
        end else begin : g_no_factor
          assign aligned = ACCW'($signed(whole));
          assign last_carry = carry;
          if (TW + UNIT > ACCW) begin : g_above
            logic unused_above;
            assign unused_above = ^whole[TW+UNIT-1:ACCW];
          end
        end
        always_comb begin
          shifted = aligned;
          for (int k = 0; k < EW; k++)
          if (exponents[p*EW+k])
            shifted = (shifted << (1 << k)) | (last_carry ? (ACCW'(1) << (1 << k)) - ACCW'(1) : '0);
        end
        always_ff @(posedge clk)
          if (enable) begin
            kept <= shifted;
            kept_carry <= last_carry;
          end
        assign sums[p*ACCW+:ACCW] = kept;
        assign carries[p] = kept_carry;
      end else if (UNIT > 0) begin : g_unit
        assign sums[p*ACCW+:ACCW] = {total, {UNIT{carry}}};
        assign carries[p] = carry;
      end else begin : g_whole
        assign sums[p*ACCW+:ACCW] = total;
        assign carries[p] = carry;
      end
      mase_dot #(
          .SIMD(SIMD),
          .AW(A),
          .ASIGNED(ASIGNED),
          .WW(B),
          .WSIGNED(WSIGNED),
          .W(TW),
          .MULTIPLIER(MULTIPLIER),
          .PRODUCT_STAGES(PRODUCT_STAGES),
          .AFLOAT((ADECODED != 0) ? -1 : AFLOAT),
          .AZERO(AZERO),
          .AN(AN),
          .WFLOAT((BDECODED != 0) ? -1 : WFLOAT),
          .WZERO(WZERO),
          .WN(WN),
          .TERM_STAGES(TERM_STAGES)
      ) products (
          .clk,
          .enable(multiply),
          .x(late_operands[p/READERS*SIMD*A+:SIMD*A]),
          .w(late_weights[p*SIMD*B+:SIMD*B]),
          .sum(total),
          .carry
      );
    end else if (p % READERS % PACK == 0) begin : g_pack
      localparam int LEFT = READERS - p % READERS;
      localparam int COUNT = (LEFT < PACK) ? LEFT : PACK;
      mase_dot_packed #(
          .SIMD(SIMD),
          .AW(A),
          .ASIGNED(ASIGNED),
          .WW(B),
          .WSIGNED(WSIGNED),
          .W(ACCW),
          .COUNT(COUNT),
          .PITCH(PITCH),
          .KNOWN(KNOWN),
          .DSP(MULTIPLIER),
          .PRODUCT_STAGES(PRODUCT_STAGES)
      ) products (
          .clk,
          .enable(multiply),
          .x(late_operands[p/READERS*SIMD*A+:SIMD*A]),
          .w(late_weights[p*SIMD*B+:COUNT*SIMD*B]),
          .sum(sums[p*ACCW+:COUNT*ACCW]),
          .carry(carries[p+:COUNT])
      );
    end
  end

  logic [PE*OW-1:0] results;
  for (genvar p = 0; p < PE; p++) begin : g_pe
    localparam int CARRIES = (KNOWN < 2 && p % READERS % PACK != 0) ? 1 : 0;
    logic [ACCW-1:0] acc;
    mase_accumulate #(
        .W(ACCW),
        .HAS_CARRY((MULTIPLIER == 2) ? 1 : CARRIES)
    ) accumulator (
        .clk,
        .enable(enable && valid[LAST]),
        .first(first[LAST]),
        .bias(biases[p*ACCW+:ACCW]),
        .sum(sums[p*ACCW+:ACCW]),
        .carry(carries[p]),
        .acc
    );
    mase_requantise_stage #(
        .IW(ACCW),
        .OW(OW),
        .SHIFT(SHIFT),
        .DIVISOR(DIVISOR),
        .ROUND(ROUND),
        .HALVED(HALVED),
        .LOW(LOW),
        .HIGH(HIGH)
    ) round (
        .clk,
        .enable,
        .in(acc),
        .out(results[p*OW+:OW])
    );
  end

  mase_skid #(
      .W(PE * OW)
  ) buffer (
      .clk,
      .rst,
      .in_valid(rounded_last),
      .in_ready(enable),
      .in_data(results),
      .out_valid,
      .out_ready,
      .out_data
  );

endmodule
