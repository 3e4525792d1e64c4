// SPDX-License-Identifier: Apache-2.0
// Runs of beats at equal distances.
#include "hardware/design/timing/trace.hpp"

#include "hardware/design/timing/handshake.hpp"

namespace mase::design {

void Trace::add(std::int64_t cycle) {
  auto& runs = runs_->runs;
  if (runs.empty()) first_ = last_ = cycle;
  const std::int64_t distance = cycle - last_;
  if (open_ && runs.back().distance == distance)
    ++runs.back().count;
  else
    runs.push_back({distance, 1});
  open_ = true;
  last_ = cycle;
}

std::size_t Trace::mark() {
  open_ = false;
  return runs_->runs.size();
}

void Trace::loop(std::size_t mark, std::int64_t period) {
  auto& [runs, loop, length, from, back] = *runs_;
  runs.shrink_to_fit();
  loop = mark;
  length = period;
  from = last_ - first_ + 1;
  if (mark == runs.size()) return;
  from = runs[mark].distance;
  for (std::size_t i = 0; i < mark; ++i) from += runs[i].distance * runs[i].count;
  back = first_ + from + period - last_;
}

Trace Trace::later(std::int64_t cycles) const {
  Trace result = *this;
  result.first_ += cycles;
  result.last_ += cycles;
  return result;
}

Trace::Cursor::Cursor(const Trace& trace)
    : runs_(trace.runs_), cycle_(trace.empty() ? forever : trace.first()) {
  if (!trace.empty()) left_ = runs_->runs[0].count - 1;
}

void Trace::Cursor::advance() {
  if (cycle_ == forever) return;
  const auto& runs = runs_->runs;
  if (left_ > 0) {
    --left_;
    cycle_ += runs[run_].distance;
    return;
  }
  const bool again = ++run_ == runs.size();
  if (again) run_ = runs_->loop;
  if (run_ == runs.size()) {
    cycle_ = forever;
    return;
  }
  left_ = runs[run_].count - 1;
  cycle_ += again ? runs_->back : runs[run_].distance;
}

}  // namespace mase::design
