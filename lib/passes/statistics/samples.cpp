// SPDX-License-Identifier: Apache-2.0
// Cells are numbered row-major over the dimensions that are kept.
#include "passes/statistics/samples.hpp"

#include <algorithm>

#include "base/from_front.hpp"

namespace mase::passes {
namespace {

bool is_word(const Tree& value, std::string_view word) {
  return value.is_string() && value.as_string() == word;
}

/// The dimensions of a sample over which the statistic is taken.
std::vector<bool> reduced_dims(const Dims& dims, const Shape& sample) {
  std::vector<bool> reduced(sample.size(), dims.all);
  for (const std::int64_t dim : dims.listed) {
    const auto place = from_front(dim, sample.size());
    if (!place)
      config_error("dims names dimension " + std::to_string(dim) + ", but a sample has the shape " +
                   shape_text(sample));
    reduced[*place] = true;
  }
  return reduced;
}

}  // namespace

bool Dims::read(const Tree& value, Diagnostics& diagnostics) {
  const bool is_list =
      value.is_list() && std::all_of(value.as_list().begin(), value.as_list().end(),
                                     [](const Tree& item) { return item.is_int(); });
  if (!is_list && !is_word(value, "all") && !is_word(value, "none") && !is_word(value, "NA")) {
    diagnostics.error(value.where,
                      "option 'dims' must be \"all\", \"none\" or a list of dimensions");
    return false;
  }
  all = is_word(value, "all");
  listed.clear();
  if (is_list)
    for (const Tree& item : value.as_list()) listed.push_back(item.as_int());
  return true;
}

Tree Dims::write() const {
  if (all) return "all";
  return listed.empty() ? Tree("none") : Tree::list_of(listed);
}

Cells::Cells(const Dims& dims, const Shape& sample) : sample_(sample), all_(dims.all) {
  const std::vector<bool> reduced = reduced_dims(dims, sample);
  for (std::size_t d = 0; d < sample.size(); ++d)
    if (!reduced[d]) kept_.push_back(sample[d]);
  size_ = static_cast<std::size_t>(numel(kept_));
  if (size_ == 1) return;
  cell_of_.assign(static_cast<std::size_t>(numel(sample)), 0);
  for (std::size_t e = 0; e < cell_of_.size(); ++e) {
    std::size_t rest = e, cell = 0, inner = cell_of_.size();
    for (std::size_t d = 0; d < sample.size(); ++d) {
      const auto size = static_cast<std::size_t>(sample[d]);
      inner /= size;
      const std::size_t at = rest / inner;
      rest %= inner;
      if (!reduced[d]) cell = cell * size + at;
    }
    cell_of_[e] = cell;
  }
}

void Cells::check_shape(const Shape& sample) const {
  if (sample != sample_)
    config_error("samples have the shapes " + shape_text(sample_) + " and " + shape_text(sample) +
                 "; samples of different shapes need dims = \"all\"");
}

Tree Cells::tree(const std::vector<double>& values) const {
  if (all_) return Tree(values.at(0));
  return nested_lists(values, kept_);
}

const Cells& cells_for(std::optional<Cells>& cells, const Dims& dims, const Samples& samples) {
  if (!cells) cells.emplace(dims, samples.shape);
  return *cells;
}

Tree nested_lists(std::span<const double> values, std::span<const std::int64_t> shape) {
  if (shape.empty()) return Tree(values[0]);
  const auto parts = static_cast<std::size_t>(shape[0]);
  Tree list = Tree::list();
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t size = values.size() / parts;
    list.push_back(nested_lists(values.subspan(i * size, size), shape.subspan(1)));
  }
  return list;
}

}  // namespace mase::passes
