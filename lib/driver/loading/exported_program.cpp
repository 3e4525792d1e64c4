// SPDX-License-Identifier: Apache-2.0
// Exported programs of PyTorch (.pt2). The graph is built without LibTorch; inputs without an
// example have the sizes of the export.
#include "driver/loading/sources.hpp"
#include "pt2/import.hpp"

namespace mase::driver {
namespace {

void refuse_program_options(const ModelRequest& request) {
  const char* option = option_about_modules(request.input);
  if (!option && !fixed_values(request).empty()) option = "--fix";
  refuse_option(request, option, "an exported program");
}

/// The names of the model's inputs. Which tensors of the model are inputs, too, shows only when the
/// graph is there, so the program is imported for them if values may be given for them.
std::vector<std::string> names_of_inputs(const ModelRequest& request, const pt2::Program& program,
                                         const pt2::ImportOptions& options) {
  const std::vector<std::string> names = pt2::inputs_of(program);
  const ModelInput& input = request.input;
  const bool by_name = has_names(input) || (request.dataset && request.dataset->inputs.size() > 1);
  const bool for_all = !by_name && input.inputs.size() + input.input_shapes.size() <= names.size();
  if (for_all || !pt2::may_keep_state(program)) return names;
  return input_names(pt2::import_program(program, options).graph);
}

}  // namespace

std::optional<LoadedModel> from_exported_program(const ModelRequest& request) {
  if (!looks_like_path(request.model) || !pt2::is_exported_program(request.model))
    return std::nullopt;
  refuse_program_options(request);
  const pt2::Program program = pt2::read_program(request.model);
  pt2::ImportOptions options;
  if (request.input.most_operators) options.most_nodes = *request.input.most_operators;
  const std::vector<std::string> names = names_of_inputs(request, program, options);
  options.inputs = by_name(requested_inputs(request, names), names);
  pt2::Imported imported = pt2::import_program(program, options);
  return with_examples(request, std::move(imported.graph), imported.notes, options.inputs);
}

}  // namespace mase::driver
