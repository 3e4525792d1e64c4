// SPDX-License-Identifier: Apache-2.0
// Findings travel as JSON.
#include "passes/statistics/shared_sources.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "ir/train_mode.hpp"

namespace mase::passes {
namespace {

/// How many values a source shows.
std::int64_t value_count(const ir::Graph& graph, const Source& source, std::int64_t rows) {
  std::int64_t count = 0;
  for (const std::string& path : source.tensors) count += graph.tensors.at(path).value.size();
  for (const auto* names : {&source.nodes, &source.recurrent})
    for (const std::string& name : *names) {
      const Shape& shape = graph.find_node(name)->info.shape;
      const std::int64_t example = shape.empty() ? 1 : std::max<std::int64_t>(shape.front(), 1);
      count += numel(shape) / example * rows;
    }
  return count;
}

std::vector<std::size_t> owners_of(const std::vector<std::int64_t>& counts, int processes) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return counts[i]; });
  std::vector<std::int64_t> loads(static_cast<std::size_t>(processes));
  std::vector<std::size_t> owners(counts.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(loads);
    owners[i] = static_cast<std::size_t>(least - loads.begin());
    *least += counts[i];
  }
  return owners;
}

/// What this process tells the others: its findings, or the error that it met.
Tree message_of(const std::function<std::vector<Tree>()>& find, bool has_own) {
  Tree message = Tree::dict();
  message["found"] = Tree::list();
  try {
    if (has_own) message["found"] = Tree(find());
  } catch (const Error& error) {
    message["error"] = error.what();
    message["fault"] = error.exit_code();
  }
  return message;
}

std::vector<Tree> findings_in(const std::string& text) {
  const Tree message = parse_json(text, "findings of a rank");
  if (const Tree* error = message.find("error"))
    throw Error(static_cast<Fault>(message.at("fault").as_int()), error->as_string());
  return message.at("found").as_list();
}

}  // namespace

SharedSources::SharedSources(const ir::Graph& graph, const std::vector<Source>& sources,
                             std::int64_t rows, const PassContext& context)
    : companions_(context.companions.get()) {
  if (companions_ && ir::draws_always(graph))
    config_error(
        "the model draws random numbers in eval mode, which several processes do not share; run "
        "remove_dropout first, or the command in one process");
  std::vector<std::int64_t> counts;
  for (const Source& source : sources) counts.push_back(value_count(graph, source, rows));
  owners_ = owners_of(counts, companions_ ? companions_->size() : 1);
  const std::size_t rank = companions_ ? static_cast<std::size_t>(companions_->rank()) : 0;
  for (std::size_t i = 0; i < owners_.size(); ++i)
    if (owners_[i] == rank) own_.push_back(i);
}

std::vector<Tree> SharedSources::findings(const std::function<std::vector<Tree>()>& find) const {
  if (!companions_) return own_.empty() ? std::vector<Tree>() : find();
  const std::string own = to_json(message_of(find, !own_.empty()), -1);
  std::vector<std::vector<Tree>> by_rank;
  for (const std::string& text : companions_->gather(own)) by_rank.push_back(findings_in(text));
  std::vector<std::size_t> taken(by_rank.size());
  std::vector<Tree> all;
  for (const std::size_t owner : owners_)
    all.push_back(std::move(by_rank[owner].at(taken[owner]++)));
  return all;
}

}  // namespace mase::passes
