// SPDX-License-Identifier: Apache-2.0
// Selector: a seed table of a mixed-precision space, applied to a node or an op.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "hardware/integer/program.hpp"
#include "search/samplers/space.hpp"

namespace mase::search {

/// A key of a seed: its choices, and the formats of its selector for which it has a meaning.
struct Key {
  std::string key;  ///< "weight_width"
  std::vector<Tree> choices;
  std::set<double> formats;  ///< indices of the selector's formats; empty without selector
  std::string dimension;     ///< "fc1/config/weight_width"; "" if pinned
  bool numeric = false;      ///< the parameter is the value itself, not the index of a choice

  /// The choice for these parameters; nothing if they do not have the key's dimension.
  std::optional<Tree> value_in(const samplers::Params& params) const;
};

/// Adds a dimension for a key, unless the key is pinned.
void add_dimension(Key& key, const std::string& name, std::optional<samplers::Condition> condition,
                   samplers::Space& dimensions);

/// The choices for one node or op.
struct Selector {
  std::string name;  ///< node or op
  std::vector<std::string> ports;
  std::vector<Tree> formats;  ///< choices of the key `name`; "" where every port has whole formats
  std::string dimension;      ///< of the key `name`; "" if pinned
  std::vector<Key> keys;
  std::vector<std::string> nodes;  ///< the nodes that it is for

  /// The port that a key refers to; nothing for a field of the whole format.
  std::optional<std::string> port_of(const std::string& key) const;
  /// The indices of the formats that have the key.
  std::set<double> formats_with(const std::string& key) const;
  /// Whether the parameters concern it. A selector without dimensions always applies.
  bool is_chosen(const samplers::Params& params) const;
  /// The `config` table for these parameters. Keys whose parameter is missing are left out.
  Tree config(const samplers::Params& params) const;
};

bool leaves_alone(const Tree& format);  ///< "NA"

/// Stands for the name of a seed that has none, since it has whole formats of ports alone.
inline const Tree no_name{""};
/// Adds the name to a `config` table, if it is one.
void add_name(const Tree& format, Tree& config);

/// Tries every combination of the keys of each port (and of the keys for all ports) with each
/// format, so that no trial can fail because of them. An invalid combination is an error, and more
/// fraction bits than bits give a warning; each is reported once per port.
void check_combinations(const Selector& selector, Diagnostics& diagnostics);

/// Tries every choice by itself: an error for one with which a node of its selector, cut out of the
/// graph, has no datapath, whatever the selector's other choices are, and a warning for one that
/// has none together with the first choices of the others. Nothing is said of a node that has none
/// with integers of 8 bits either, since that may depend on its neighbours.
void check_hardware(const std::vector<Selector>& selectors, const ir::Graph& graph,
                    integer::Contents contents, Diagnostics& diagnostics);

}  // namespace mase::search
