// SPDX-License-Identifier: Apache-2.0
// Joins the families to one table.
#include "huggingface/architectures.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace mase::huggingface {
namespace {

[[noreturn]] void unknown(const Config& config, const std::string& what) {
  std::vector<std::string> known;
  for (const Architecture* row : architectures()) known.emplace_back(row->name);
  unsupported_error(config.path() + ": " + what + " is not known; known are " + join(known, ", ") +
                    ". For others, trace the model (torch.jit.trace) or export it (torch.export), "
                    "and give mase that file");
}

}  // namespace

std::vector<const Architecture*> architectures() {
  std::vector<const Architecture*> rows;
  for (const auto& family : {bert_family(), distilbert_family(), vision_family(), gpt2_family(),
                             llama_family(), opt_family(), resnet_family()})
    for (const Architecture& row : family) rows.push_back(&row);
  return rows;
}

const Architecture* find_architecture(const Config& config) {
  const std::vector<const Architecture*> rows = architectures();
  const Tree* names = config.find("architectures");
  if (names && (!names->is_list() || names->size() != 1 || !names->as_list()[0].is_string()))
    config.wrong("architectures", "is not a list of one name");
  const std::string type = config.text("model_type", "");
  const auto row = std::ranges::find_if(rows, [&](const Architecture* one) {
    return names ? one->name == names->as_list()[0].as_string() : one->model_type == type;
  });  // the first of a type is the model without a head
  return row == rows.end() ? nullptr : *row;
}

const Architecture& architecture_of(const Config& config) {
  if (const Architecture* row = find_architecture(config)) return *row;
  const Tree* names = config.find("architectures");
  unknown(config, names ? "the architecture '" + names->as_list()[0].as_string() + "'"
                        : "the model type '" + config.text("model_type", "") + "'");
}

}  // namespace mase::huggingface
