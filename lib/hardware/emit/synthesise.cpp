// SPDX-License-Identifier: Apache-2.0
// Synthesis: the whole top, and every different instance in a top of its own.
#include <algorithm>
#include <chrono>

#include "hardware/emit/emit.hpp"
#include "hardware/emit/synthesise.hpp"
#include "hardware/emit/text/devices.hpp"
#include "hardware/emit/text/top.hpp"
#include "hardware/emit/tools/yosys.hpp"

namespace mase::emit {
namespace {

/// A design of one instance, its streams at the border.
design::Design alone(const design::Design& design, const design::Instance& instance) {
  design::Design out;
  out.name = "alone";
  out.reloadable = design.reloadable;
  design::Instance copy = instance;
  copy.name = "instance_alone";
  const auto take = [&](std::vector<design::StreamId>& ids, std::vector<design::StreamId>& border,
                        const std::string& name) {
    for (design::StreamId& id : ids) {
      design::Stream stream = design.stream(id);
      stream.name = name + std::to_string(border.size());
      id = static_cast<design::StreamId>(out.streams.size());
      out.streams.push_back(std::move(stream));
      border.push_back(id);
    }
  };
  take(copy.inputs, out.inputs, "in");
  take(copy.outputs, out.outputs, "out");
  out.instances.push_back(std::move(copy));
  return out;
}

}  // namespace

Synthesis synthesise(const std::string& hardware_folder, const design::Design& design,
                     const std::string& family, bool per_instance) {
  const Family& row = family_of(family);
  const auto start = std::chrono::steady_clock::now();
  Synthesis synthesis;
  synthesis.family = family;
  for (const DeviceScope& part : device_scopes(design, names_of(design))) {
    const Synthesised one = run_yosys(hardware_folder, row, part.scope.name, "");
    synthesis.total += one.cost;
    if (one.depth) synthesis.logic_depth = std::max(*one.depth, synthesis.logic_depth.value_or(0));
    if (one.path && (!synthesis.path || synthesis.path->ns < one.path->ns))
      synthesis.path = one.path;
  }
  std::map<std::string, design::Cost> known;  // by text: equal instances are synthesised once
  if (per_instance)
    for (const design::Instance& instance : design.instances) {
      if (instance.device == design::between_devices) continue;
      const design::Design one = alone(design, instance);
      const Names names = names_of(one);
      const std::string text = top_text(one, names);
      if (!known.contains(text))
        known[text] = run_yosys(hardware_folder, row, names.top, text).cost;
      synthesis.instances[instance.name] = known[text];
    }
  synthesis.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return synthesis;
}

}  // namespace mase::emit
