// SPDX-License-Identifier: Apache-2.0
// A choice as a tree and back. JSON keeps every bit of a number.
#include "passes/calibration/shared_choices.hpp"

namespace mase::passes {
namespace {

Tree tree_of_choice(const PortChoice& choice) {
  Tree tree = Tree::dict();
  tree["name"] = choice.format.name();
  tree["fields"] = choice.format.fields();
  tree["value"] = choice.value;
  tree["values"] = choice.values;
  tree["saturated"] = choice.saturated;
  return tree;
}

PortChoice choice_in(const Tree& tree) {
  return {formats::format_of(tree.at("name").as_string(), tree.at("fields")), tree.at("value"),
          tree.at("values").as_int(), tree.at("saturated").as_int()};
}

}  // namespace

std::vector<PortChoice> share_choices(
    const SharedSources& sources,
    const std::function<std::vector<PortChoice>(const std::vector<std::size_t>& ports)>& choose) {
  if (!sources.are_shared()) return choose(sources.own());
  std::vector<PortChoice> all;
  for (const Tree& found : sources.findings([&] {
         std::vector<Tree> own;
         for (const PortChoice& choice : choose(sources.own()))
           own.push_back(tree_of_choice(choice));
         return own;
       }))
    all.push_back(choice_in(found));
  return all;
}

}  // namespace mase::passes
