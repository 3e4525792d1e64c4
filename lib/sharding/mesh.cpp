// SPDX-License-Identifier: Apache-2.0
// The cost model of collectives, one row each.
#include "sharding/mesh.hpp"

namespace mase::sharding {
namespace {

/// The name of a collective, and the share of the bytes that crosses a link of n devices.
struct CollectiveRow {
  std::string_view name;
  bool sends;
  double (*share)(double n);
};

constexpr CollectiveRow collective_rows[] = {
    {"slice", false, nullptr},
    {"keep_first", false, nullptr},
    {"all_gather", true, [](double n) { return (n - 1) / n; }},
    {"all_reduce", true, [](double n) { return 2 * (n - 1) / n; }},
    {"reduce_scatter", true, [](double n) { return (n - 1) / n; }},
    {"all_to_all", true, [](double n) { return (n - 1) / (n * n) * (n / 2); }},
};

const CollectiveRow& row_of(Collective kind) {
  return collective_rows[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view collective_name(Collective kind) { return row_of(kind).name; }

double seconds_of(const Mesh& mesh, Collective kind, std::size_t axis, double bytes) {
  const CollectiveRow& row = row_of(kind);
  if (!row.sends) return 0;
  const double share = row.share(static_cast<double>(mesh.sizes[axis]));
  return mesh.latency[axis] + share * bytes / mesh.bandwidth[axis];
}

}  // namespace mase::sharding
