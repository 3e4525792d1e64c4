// SPDX-License-Identifier: Apache-2.0
// The sizes for which the program is the model: those of the example now, those of a run later.
#include <algorithm>

#include "base/error.hpp"
#include "ir/guards.hpp"
#include "pt2/import/importer.hpp"

namespace mase::pt2 {

/// Refuses an example for which the model is another program, as where a size decides a branch or
/// is written as a number. Conditions become guards, which runs check. Those of other operators
/// than guards know are left out.
void Importer::check_conditions() {
  const auto shape_of = [&](const std::string& name) -> const Shape* {
    if (const auto given = options_.inputs.find(name); given != options_.inputs.end())
      return &given->second.shape();
    const ir::Node* node = graph_.find_node(name);
    return node ? &node->info.shape : nullptr;
  };
  std::string shapes;
  const ir::SizeOf size_of = [&](const ir::ReadSize& size) -> std::optional<std::int64_t> {
    const Shape* shape = shape_of(size.name);
    if (!shape || size.dim < 0 || size.dim >= std::ssize(*shape)) return std::nullopt;
    shapes = "'" + size.name + "' has the shape " + shape_text(*shape);
    return (*shape)[static_cast<std::size_t>(size.dim)];
  };
  for (const std::string& condition : program_.conditions) {
    const auto is_true = ir::holds(condition, size_of);
    if (is_true == false && !options_.inputs.empty())
      config_error("the program is the model only where " + condition +
                   ", which torch.export found, and the example for " + shapes +
                   "; take other sizes, or export the model with an example of these");
    const ir::Guard guard{"the export", condition};
    if (is_true && std::ranges::find(graph_.guards, guard) == graph_.guards.end())
      graph_.guards.push_back(guard);
  }
}

}  // namespace mase::pt2
