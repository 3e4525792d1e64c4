// Choice of identifiers: streams first, then instances, each in the order of the design.
#include "emit/names.hpp"

#include <set>

#include "hw/module_table.hpp"
#include "hw/names.hpp"

namespace mase::emit {
namespace {

/// The top shares the space of module names with the templates and the bench.
std::string top_name(const std::string& name) {
  std::set<std::string> modules = {"bench_top"};
  for (const hw::ModuleRow& row : hw::module_table()) {
    modules.insert(row.name);
    modules.insert(row.uses.begin(), row.uses.end());
  }
  const std::string legal = hw::legal_identifier(name);
  const bool clash = modules.contains(legal) || modules.contains(legal + "_axi");
  return clash ? legal + "_top" : legal;
}

}  // namespace

Names names_of(const hw::Design& design) {
  Names names;
  names.top = top_name(design.name);
  hw::Names scope;
  for (const hw::Stream& stream : design.streams)
    names.streams.push_back(scope.stream(stream.name));
  for (const hw::Instance& instance : design.instances)
    names.instances.push_back(scope.instance(instance.name));
  return names;
}

}  // namespace mase::emit
