// SPDX-License-Identifier: Apache-2.0
// The architectures that a folder may name, one row each, in files by family.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/builder.hpp"
#include "huggingface/weights.hpp"

namespace mase::huggingface {

/// What a model takes: token numbers with a mask that leaves out padding, or images.
enum class Takes { texts, images };

struct Architecture {
  std::string_view name;        ///< "BertForSequenceClassification", as in `architectures`
  std::string_view model_type;  ///< "bert", as in `model_type`
  std::string_view classes;     ///< where transformers has its classes
  Takes takes;
  Naming naming;
  /// Builds the nodes from the inputs' on; returns the results.
  std::vector<Ref> (*build)(Builder& builder, const std::vector<Ref>& inputs);
  /// The row of the table of positions for the first token; null where it is the first row.
  std::int64_t (*first_position)(const Config& config) = nullptr;
  bool token_types = false;   ///< it may be told which tokens are of the second text of a pair
  bool logits_first = false;  ///< the first of several results is what transformers calls logits
};

std::span<const Architecture> bert_family();
std::span<const Architecture> distilbert_family();
std::span<const Architecture> vision_family();
std::span<const Architecture> gpt2_family();
std::span<const Architecture> llama_family();
std::span<const Architecture> opt_family();
std::span<const Architecture> resnet_family();

/// All rows.
std::vector<const Architecture*> architectures();

/// The row that the settings name; nullptr if there is none.
const Architecture* find_architecture(const Config& config);
/// The same, or Error(Fault::unsupported) that names what they ask for, and lists what is known.
const Architecture& architecture_of(const Config& config);

}  // namespace mase::huggingface
