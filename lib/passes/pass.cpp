// SPDX-License-Identifier: Apache-2.0
// The parts of the pass framework that are not templates.
#include "passes/pass.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/interrupt.hpp"

namespace mase::passes {

std::string_view kind_name(PassKind kind) {
  switch (kind) {
    case PassKind::analysis:
      return "analysis";
    case PassKind::transform:
      return "transform";
    case PassKind::interface:
      return "interface";
  }
  return "analysis";
}

bool PassContext::has_data() const {
  return evaluator && (training_rows || (probe_is_data && !probe.empty()));
}

void PassContext::each_batch(std::int64_t count, const SeeBatch& see) const {
  MASE_CHECK(has_data(), "a pass asked for data where there is none");
  if (training_rows)
    return training_rows(count, [&](const std::vector<Array>& inputs) {
      stop_if_asked();
      see(inputs);
    });
  const auto is_longer = [&](const Array& input) {
    return !input.shape().empty() && input.shape()[0] > count;
  };
  std::vector<Array> inputs = probe;
  if (std::all_of(inputs.begin(), inputs.end(), is_longer))
    for (Array& input : inputs) input = input.rows(0, count);
  see(inputs);
}

void PassContext::start_again(const ir::Graph& graph, std::vector<Array> inputs) {
  own_original_ = std::make_shared<const ir::Graph>(graph);
  original = own_original_.get();
  probe = std::move(inputs);
}

std::string PassContext::output_path(const std::string& file) const {
  if (!stays_inside(file))
    config_error("'" + file + "' is not a name inside the output folder " + output_folder +
                 "; give a relative path without '..'");
  return (std::filesystem::path(output_folder) / file).lexically_normal().string();
}

const PassRow* find_pass(const PassTable& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const PassRow& row) { return row.doc.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace mase::passes
