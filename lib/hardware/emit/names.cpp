// SPDX-License-Identifier: Apache-2.0
// Choice of identifiers: streams first, then instances, each in the order of the design.
#include "hardware/emit/names.hpp"

#include <filesystem>
#include <set>

#include "hardware/design/module_table.hpp"
#include "hardware/design/names.hpp"

namespace mase::emit {
namespace {

/// The top shares the space of module names with the templates, the bench and modules of the
/// user's, whose files are named as they like.
std::string top_name(const design::Design& design) {
  std::set<std::string> modules = {"bench_top"};
  for (const design::Instance& instance : design.instances) {
    if (!instance.own) continue;
    modules.insert(instance.module);
    for (const auto& [file, text] : instance.own->files)
      modules.insert(std::filesystem::path(file).stem().string());
  }
  for (const design::ModuleRow& row : design::module_table()) {
    modules.insert(row.name);
    modules.insert(row.uses.begin(), row.uses.end());
  }
  const std::string legal = design::legal_identifier(design.name);
  const bool clash = modules.contains(legal) || modules.contains(legal + "_axi");
  return clash ? legal + "_top" : legal;
}

}  // namespace

Names names_of(const design::Design& design) {
  Names names;
  names.top = top_name(design);
  design::Names scope;
  for (const design::Stream& stream : design.streams)
    names.streams.push_back(scope.stream(stream.name));
  for (const design::Instance& instance : design.instances)
    names.instances.push_back(scope.instance(instance.name));
  return names;
}

}  // namespace mase::emit
