// SPDX-License-Identifier: Apache-2.0
// Drives the class that Verilator makes of bench_top with --prefix Vdut.
#include "dut.hpp"

#include <verilated.h>

#include "Vdut.h"
#if VM_TRACE
#include <verilated_fst_c.h>
#endif
#if VM_COVERAGE
#include <verilated_cov.h>
#endif

namespace {

class Model final : public Dut {
 public:
  explicit Model([[maybe_unused]] const std::string& trace) {
    in_data = model_.in_data.data();
    out_data = model_.out_data.data();
    fifo_levels = {model_.fifo_levels.data(), sizeof(model_.fifo_levels) / 4};
#if VM_TRACE
    if (trace.empty()) return;
    context_.traceEverOn(true);
    model_.trace(&trace_, 99);
    trace_.open(trace.c_str());
#endif
  }

  void settle(bool clock) override {
    model_.clk = clock;
    model_.rst = reset;
    model_.in_valid = in_valid;
    model_.out_ready = out_ready;
    model_.eval();
    in_ready = model_.in_ready;
    out_valid = model_.out_valid;
  }

  void dump() override {
#if VM_TRACE
    if (trace_.isOpen()) trace_.dump(context_.time());
    context_.timeInc(1);
#endif
  }

  void finish([[maybe_unused]] const std::string& coverage) override {
#if VM_TRACE
    if (trace_.isOpen()) trace_.close();
#endif
    model_.final();
#if VM_COVERAGE
    if (!coverage.empty()) context_.coveragep()->write(coverage.c_str());
#endif
  }

 private:
  VerilatedContext context_;
  Vdut model_{&context_};
#if VM_TRACE
  VerilatedFstC trace_;
#endif
};

}  // namespace

std::unique_ptr<Dut> make_dut(const std::string& trace) { return std::make_unique<Model>(trace); }
