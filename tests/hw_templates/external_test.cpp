// SPDX-License-Identifier: Apache-2.0
// Modules of the user's against the handshake model that is made of their two numbers.
#include <catch2/catch.hpp>

#include "hardware/design/modules/external.hpp"
#include "ir/custom_op.hpp"
#include "support/module_bench.hpp"

namespace mase::rtl_test {
namespace {

/// Adds one. Takes a beat in every INTERVAL-th move of its pipeline of STAGES registers.
constexpr const char* paced = R"(
module paced #(
    parameter int W = 8,
    parameter int STAGES = 1,
    parameter int INTERVAL = 1
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
  logic move, enter;
  logic [31:0] pause;
  logic [STAGES-1:0] valid;
  logic [STAGES-1:0][W-1:0] data;
  assign in_ready = move && pause == 0;
  assign enter = in_valid && in_ready;
  always_ff @(posedge clk) begin
    if (rst) pause <= 0;
    else if (move) pause <= enter ? INTERVAL - 1 : pause == 0 ? 0 : pause - 1;
  end
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else if (move) begin
      valid[0] <= enter;
      for (int i = 1; i < STAGES; i++) valid[i] <= valid[i-1];
    end
  end
  always_ff @(posedge clk)
    if (move) begin
      data[0] <= in_data + 1'b1;
      for (int i = 1; i < STAGES; i++) data[i] <= data[i-1];
    end
  mase_skid #(
      .W(W)
  ) buffer (
      .clk(clk),
      .rst(rst),
      .in_valid(valid[STAGES-1]),
      .in_ready(move),
      .in_data(data[STAGES-1]),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );
endmodule
)";

Case paced_case(Random& random, std::int64_t latency, std::int64_t interval) {
  ir::CustomHardware hardware;
  hardware.module = "paced";
  hardware.latency = latency;
  hardware.interval = interval;
  hardware.files = {{"paced.sv", paced}};
  const Port in = random_port(random, 1, {8, 0, false}, 12 * 5);
  Port out = in;
  for (std::int64_t& code : out.codes) code = (code + 1) & 255;
  design::Module module(std::make_unique<design::ExternalModule>(
      hardware, 1,
      design::ModuleParameters{
          {"W", std::int64_t{8}}, {"STAGES", latency - 1}, {"INTERVAL", interval}}));
  return case_of(std::move(module), {in}, {out});
}

TEST_CASE("modules of the user's have the stated latency and interval in every cycle") {
  Random random(5);
  std::vector<Case> cases;
  for (const std::int64_t latency : {2, 3, 6})
    for (const std::int64_t interval : {1, 2, 3, 7})
      cases.push_back(paced_case(random, latency, interval));
  check_cases(cases, 12);
}

}  // namespace
}  // namespace mase::rtl_test
