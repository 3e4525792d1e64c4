// SPDX-License-Identifier: Apache-2.0
// What lies between the ports of two devices, for simulation: a beat is on its way into the link for INTERVAL cycles, and
// at the other end LATENCY cycles after the last of these. There are DEPTH places for beats at the other end, and a place
// that becomes free is known to the sender LATENCY cycles later: a beat in each interval needs 2 * LATENCY / INTERVAL
// places, rounded up.
module mase_link #(
    parameter int W = 9,
    parameter int LATENCY = 1,
    parameter int INTERVAL = 1,
    parameter int DEPTH = 2
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [W-1:0] in_data,
    output logic         out_valid,
    input  logic         out_ready,
    output logic [W-1:0] out_data
);
  localparam int CW = $clog2(DEPTH + 1);
  localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
  localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);

  logic offered, sent, arrives, given, freed;
  logic [CW-1:0] places, there;  // free ones as the sender knows, beats at the other end
  logic [W-1:0] beat;
  assign sent = offered && places != '0;
  assign given = out_valid && out_ready;
  assign out_valid = there != '0;

  if (INTERVAL == 1) begin : g_each_cycle
    assign offered = in_valid;
    assign in_ready = places != '0;
    assign beat = in_data;
  end else begin : g_paced
    localparam int IW = (INTERVAL > 2) ? $clog2(INTERVAL - 1) : 1;
    logic full;
    logic [IW-1:0] left;  // cycles in which the beat is still on its way into the link
    assign in_ready = !full;
    assign offered = full && left == '0;

    always_ff @(posedge clk) begin
      if (rst) begin
        full <= 1'b0;
        left <= '0;
      end else begin
        full <= full ? !sent : in_valid;
        if (!full) left <= IW'(INTERVAL - 2);
        else if (left != '0) left <= left - 1'b1;
      end
    end
    always_ff @(posedge clk) if (in_ready) beat <= in_data;
  end

  // A beat waits in its place; only the news of it is on the way.
  if (LATENCY == 1) begin : g_next_cycle
    assign arrives = sent;
    assign freed = given;
  end else begin : g_ways
    logic [LATENCY-2:0] forth, back;
    assign arrives = forth[LATENCY-2];
    assign freed = back[LATENCY-2];
    always_ff @(posedge clk) begin
      forth <= rst ? '0 : (LATENCY - 1)'({forth, sent});
      back  <= rst ? '0 : (LATENCY - 1)'({back, given});
    end
  end

  logic [AW-1:0] head, tail;
  logic [W-1:0] held[DEPTH];
  assign out_data = held[head];
  always_ff @(posedge clk) begin
    if (rst) begin
      places <= CW'(DEPTH);
      there <= '0;
      head <= '0;
      tail <= '0;
    end else begin
      places <= places + CW'(freed) - CW'(sent);
      there <= there + CW'(arrives) - CW'(given);
      if (given) head <= (head == LAST) ? '0 : head + 1'b1;
      if (sent) tail <= (tail == LAST) ? '0 : tail + 1'b1;
    end
  end
  always_ff @(posedge clk) if (sent) held[tail] <= beat;
endmodule
