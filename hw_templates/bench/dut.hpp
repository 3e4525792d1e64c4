// SPDX-License-Identifier: Apache-2.0
// The device under test as the bench drives it: ports of bench_top, whatever their widths. Only
// dut.cpp includes what Verilator makes of a design, so the rest compiles once for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct Dut {
  virtual ~Dut() = default;

  // Lets the design settle at this level of the clock: reads what is driven, writes what comes out.
  virtual void settle(bool clock) = 0;
  // One more moment in the trace.
  virtual void dump() = 0;
  // Ends the trace and writes the coverage, when a file is named.
  virtual void finish(const std::string& coverage) = 0;

  bool reset = false;                         // driven
  std::uint64_t in_valid = 0, out_ready = 0;  // driven, one bit a stream
  std::uint64_t in_ready = 0, out_valid = 0;
  std::uint32_t* in_data = nullptr;  // driven; words of Stream::first_word
  const std::uint32_t* out_data = nullptr;
  std::span<const std::uint32_t> fifo_levels;  // a word for each FIFO, in the order of the design
};

// The design, with a trace when a file is named.
std::unique_ptr<Dut> make_dut(const std::string& trace);
