// SPDX-License-Identifier: Apache-2.0
// What the bench in SystemVerilog is made of, for any simulator: clock, reset and verdict, and a side of a stream whose beats stand in
// a file. Plusargs: +frames=NUMBER (all that the files have), +stall=PERCENT of the cycles in which a side pauses (0), +seed=NUMBER (1),
// +vectors=FOLDER (../sim/vectors).

// bench_control: resets, counts the cycles and ends the simulation: with $finish when all outputs have come and equal what their files
// say, else with $fatal.
module bench_control #(
    parameter int SINKS = 1,
    parameter int WATCHDOG = 1000  // cycles without a beat of an output
) (
    output logic                clk,
    output logic                rst,
    input  logic [   SINKS-1:0] moved,  // an output gave a beat
    input  logic [   SINKS-1:0] done,   // an output gave all of its beats
    input  logic [32*SINKS-1:0] wrong   // beats of an output that differ
);

  localparam int SETTLE = 64;  // cycles in which a beat too many would be seen

  integer cycles, beats, idle, faults, i;

  initial begin
    clk = 1'b0;
    rst = 1'b1;
    cycles = 0;
    beats = 0;
    idle = 0;
    forever #5 clk = !clk;
  end

  initial begin
    for (i = 0; i < 4; i = i + 1) @(negedge clk);
    rst = 1'b0;
  end

  always_comb begin
    faults = 0;
    for (int s = 0; s < SINKS; s++) faults = faults + wrong[32*s+:32];
  end

  always @(posedge clk) begin
    if (!rst) begin
      if (!(&done)) cycles <= cycles + 1;
      idle <= (moved != '0) ? 0 : idle + 1;
      beats <= beats + $countones(moved);
      if (&done && idle >= SETTLE) begin
        if (faults != 0) $fatal(1, "%0d beats, %0d mismatches", beats, faults);
        $display("%0d beats, 0 mismatches, %0d cycles", beats, cycles);
        $finish;
      end else if (idle >= WATCHDOG) begin
        $fatal(1, "no beat in %0d cycles, after %0d beats and %0d mismatches", idle, beats, faults);
      end
    end
  end

endmodule

// bench_pause: says in which cycles a side of a stream pauses. Xorshift (Marsaglia, 2003), the same in every simulator.
module bench_pause #(
    parameter int SEED = 1
) (
    input  logic clk,
    output logic pause
);

  logic [31:0] state, first, second;
  integer stall, seed;

  initial begin
    if ($value$plusargs("stall=%d", stall) == 0) stall = 0;
    if ($value$plusargs("seed=%d", seed) == 0) seed = 1;
    state = 32'd2654435761 * (32'd64 * seed + SEED);
    if (state == 0) state = 32'd1;
    pause = 1'b0;
  end

  assign first  = state ^ (state << 13);
  assign second = first ^ (first >> 17);

  always @(posedge clk) begin
    state <= second ^ (second << 5);
    pause <= state % 100 < stall;
  end

endmodule

// bench_beats: the beats of NAME.hex, one after another; `take` goes to the next one.
module bench_beats #(
    parameter int W = 1,
    parameter int BEATS = 1,  // of a frame
    parameter NAME = ""
) (
    input  logic         clk,
    input  logic         take,
    output logic         some,  // there is a beat
    output logic [W-1:0] beat
);

  logic [W-1:0] next;
  logic [8*256-1:0] folder;
  integer file, got, left;

  initial begin
    if ($value$plusargs("vectors=%s", folder) == 0) folder = "../sim/vectors";
    if ($value$plusargs("frames=%d", left) == 0) left = -1;
    else left = left * BEATS;
    file = $fopen($sformatf("%0s/%s.hex", folder, NAME), "r");
    if (file == 0) $fatal(1, "cannot open %0s/%s.hex", folder, NAME);
    got  = $fscanf(file, "%h", beat);
    some = got == 1 && left != 0;
  end

  always @(posedge clk) begin
    if (take && some) begin
      got = $fscanf(file, "%h", next);
      left = left - 1;
      beat <= next;
      some <= got == 1 && left != 0;
    end
  end

endmodule

// bench_source: offers the beats of NAME.hex. One that is offered stays until it is taken.
module bench_source #(
    parameter int W = 1,
    parameter int BEATS = 1,
    parameter int SEED = 1,
    parameter NAME = ""
) (
    input  logic         clk,
    input  logic         rst,
    output logic         valid,
    input  logic         ready,
    output logic [W-1:0] data
);

  logic pause, some, take;
  logic [W-1:0] beat;

  bench_pause #(SEED) pauses (
      .clk(clk),
      .pause(pause)
  );

  bench_beats #(W, BEATS, NAME) beats (
      .clk(clk),
      .take(take),
      .some(some),
      .beat(beat)
  );

  assign take = !rst && (!valid || ready) && some && !pause;

  always @(posedge clk) begin
    if (rst) valid <= 1'b0;
    else if (!valid || ready) valid <= take;
    if (take) data <= beat;
  end

endmodule

// bench_sink: takes beats and compares them with those of NAME.hex.
module bench_sink #(
    parameter int W = 1,
    parameter int BEATS = 1,
    parameter int SEED = 1,
    parameter NAME = ""
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         valid,
    output logic         ready,
    input  logic [W-1:0] data,
    output logic         moved,
    output logic         done,
    output logic [ 31:0] wrong
);

  localparam int SHOWN = 10;  // mismatches that are printed

  logic pause, some;
  logic [W-1:0] beat;
  integer count;

  bench_pause #(SEED) pauses (
      .clk(clk),
      .pause(pause)
  );

  bench_beats #(W, BEATS, NAME) beats (
      .clk(clk),
      .take(moved),
      .some(some),
      .beat(beat)
  );

  assign ready = !pause && !rst;
  assign moved = valid && ready;
  assign done  = !some;

  initial begin
    count = 0;
    wrong = '0;
  end

  always @(posedge clk) begin
    if (moved) begin
      count <= count + 1;
      // !== finds unknown bits as well.
      if (done || data !== beat) begin
        wrong <= wrong + 1;
        if (wrong < SHOWN && done)
          $display("%s, beat %0d: %h comes after the last one", NAME, count, data);
        else if (wrong < SHOWN) $display("%s, beat %0d: %h instead of %h", NAME, count, data, beat);
      end
    end
  end

endmodule
