// SPDX-License-Identifier: Apache-2.0
// The builder's scopes hold back the operators of a leaf until they are known to be one node.
#include "torch/import/builder.hpp"

#include <algorithm>

namespace mase::libtorch {
namespace {

std::size_t record_index(ir::NodeId id) { return static_cast<std::size_t>(-2 - id); }

/// Whether a call takes a result of the scope (a record, or a host value without a node).
bool refers_to_records(const OpCall& call) {
  bool found = false;
  for (const auto& [name, cell] : call.args) {
    for_each_leaf(cell, [&](const Cell& leaf) {
      const bool outside = leaf.kind != Cell::Kind::dynamic || leaf.node >= 0;
      found = found || !outside;
    });
  }
  return found;
}

}  // namespace

void Builder::open_scope() { scope_.emplace(); }

const OpCall* Builder::only_call(const Ref& result) const {
  if (result->kind != Cell::Kind::dynamic || result->node >= ir::no_node) return nullptr;
  for (const Rebound& rebound : scope_->rebound) {
    if (!rebound.cell->stale && rebound.cell->node != result->node) return nullptr;
  }
  const OpCall& call = scope_->records[record_index(result->node)].call;
  return refers_to_records(call) || call.op == "mase::getitem" ? nullptr : &call;
}

std::vector<const OpCall*> Builder::scope_calls() const {
  std::vector<const OpCall*> calls;
  for (const Record& record : scope_->records) calls.push_back(&record.call);
  return calls;
}

const OpCall* Builder::record(const Cell& cell) const {
  const bool own = cell.kind == Cell::Kind::dynamic && cell.node < ir::no_node;
  return own ? &scope_->records[record_index(cell.node)].call : nullptr;
}

bool Builder::changes_nothing_outside() const {
  return std::ranges::all_of(scope_->rebound, [](const Rebound& rebound) {
    return rebound.before.kind == Cell::Kind::dynamic && rebound.before.node < ir::no_node;
  });
}

bool Builder::is_untouched(const Ref& result) const {
  const bool outside = result->kind == Cell::Kind::attribute || result->node >= 0;
  return outside && scope_->rebound.empty();
}

void Builder::close_scope(ir::Node node, const Ref& result) {
  const ir::NodeId local = result->node;
  std::vector<Rebound> rebound = std::move(scope_->rebound);
  scope_.reset();
  const ir::NodeId id = add_node(std::move(node), result->value);
  result->node = id;
  for (Rebound& entry : rebound) {
    if (entry.cell->node == local) entry.cell->node = id;
  }
}

void Builder::end_scope() { scope_.reset(); }

Ref Builder::add_leaf(ir::Node node, c10::IValue value) {
  Cell cell;
  cell.kind = Cell::Kind::dynamic;
  cell.node = add_node(std::move(node), value);
  cell.value = std::move(value);
  Ref ref = make_cell(std::move(cell));
  watch(ref);
  return ref;
}

void Builder::abandon_scope() {
  for (auto entry = scope_->rebound.rbegin(); entry != scope_->rebound.rend(); ++entry) {
    *entry->cell = entry->before;
    watch(entry->cell);
  }
  scope_.reset();
}

}  // namespace mase::libtorch
