// SPDX-License-Identifier: Apache-2.0
// One row for each resource that has a limit.
#include "hardware/design/device_limits.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::design {

/// A resource, and the option that limits it.
struct LimitRow {
  const char *key, *unit;
  double Cost::*amount;
  std::vector<std::int64_t> DeviceOptions::*option;
};

namespace {

constexpr LimitRow limit_rows[] = {
    {"device_lut", "LUTs", &Cost::lut, &DeviceOptions::device_lut},
    {"device_dsp", "DSP blocks", &Cost::dsp, &DeviceOptions::device_dsp},
    {"device_bram", "RAMB36 blocks", &Cost::bram, &DeviceOptions::device_bram}};

std::string amount_text(double amount) { return fixed_text(amount, amount < 100 ? 1 : 0); }

}  // namespace

const char* const limits_remedy =
    "; raise the limit, take more devices, or fold the design further by a larger "
    "initiation_interval or a smaller lut, dsp or bram";

DeviceLimits::DeviceLimits(const DeviceOptions& options) {
  for (const LimitRow& row : limit_rows)
    if (const auto& amounts = options.*row.option; !amounts.empty())
      limits_.push_back({&row, {amounts.begin(), amounts.end()}});
}

bool DeviceLimits::empty() const { return limits_.empty(); }

double DeviceLimits::Limit::of(int device) const {
  return amounts.size() == 1 ? amounts.front() : amounts.at(static_cast<std::size_t>(device));
}

// A device that may hold nothing is as good as full, but cuts that are beyond that still compare.
double DeviceLimits::load(int device, const Cost& cost) const {
  constexpr double nothing = 1e-9;
  double most = 0;
  for (const Limit& limit : limits_) {
    const double taken = cost.*limit.row->amount, there = limit.of(device);
    most = std::max(most, taken / std::max(there, nothing));
  }
  return most;
}

std::string DeviceLimits::excess_text(int device, const Cost& cost) const {
  std::vector<std::string> texts;
  for (const Limit& limit : limits_) {
    const double taken = cost.*limit.row->amount, there = limit.of(device);
    if (taken > there)
      texts.push_back("takes " + amount_text(taken) + " " + limit.row->unit + ", " +
                      amount_text(taken - there) + " more than " + limit.row->key + " allows (" +
                      amount_text(there) + ")");
  }
  return join(texts, " and ");
}

void DeviceLimits::check_numbers(const std::vector<int>& devices) const {
  const int last = devices.empty() ? 0 : *std::ranges::max_element(devices);
  for (const Limit& limit : limits_)
    if (const std::size_t count = limit.amounts.size();
        count > 1 && count != static_cast<std::size_t>(last) + 1)
      config_error(std::string(limit.row->key) + " has " + std::to_string(count) +
                   " numbers, but the last device is " + std::to_string(last) +
                   "; give one number for all devices, or " + std::to_string(last + 1) +
                   ", from device 0 on");
}

void check_limits(const Design& design, const DeviceLimits& limits) {
  if (limits.empty()) return;
  limits.check_numbers(design.devices());
  for (const int device : design.devices())
    if (const std::string excess = limits.excess_text(device, device_cost(design, device));
        !excess.empty())
      config_error("device " + std::to_string(device) + " " + excess + limits_remedy);
}

}  // namespace mase::design
