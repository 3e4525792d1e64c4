// SPDX-License-Identifier: Apache-2.0
// Selector: one seed table of a mixed-precision space, applied to a node or an op.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/tree.hpp"
#include "search/samplers/space.hpp"

namespace mase::search {

/// One key of a seed: its choices, and under which formats of its selector it means something.
struct Key {
  std::string key;  ///< "weight_width"
  std::vector<Tree> choices;
  std::set<double> formats;  ///< indices into the selector's formats; none without a selector
  std::string dimension;     ///< "fc1/config/weight_width"; "" when pinned
  bool numeric = false;      ///< the parameter is the value itself, not the index of a choice

  /// The choice of these parameters; nothing where they do not have the key's dimension.
  std::optional<Tree> value_in(const samplers::Params& params) const;
};

/// Gives a key its dimension, unless it is pinned.
void add_dimension(Key& key, const std::string& name, std::optional<samplers::Condition> condition,
                   samplers::Space& dimensions);

/// The choices for one node or op.
struct Selector {
  std::string name;  ///< node or op
  std::vector<std::string> ports;
  std::vector<Tree> formats;  ///< choices of the key `name`
  std::string dimension;      ///< of the key `name`; "" when pinned
  std::vector<Key> keys;

  /// The port that a key stands for; nothing for a field of the whole format.
  std::optional<std::string> port_of(const std::string& key) const;
  /// Indices of the formats that know the key.
  std::set<double> formats_with(const std::string& key) const;
  /// Whether the parameters say anything of it; a selector without dimensions always applies.
  bool is_chosen(const samplers::Params& params) const;
  /// The `config` table of these parameters. Keys whose parameter is missing are left out.
  Tree config(const samplers::Params& params) const;
};

bool leaves_alone(const Tree& format);  ///< "NA"

/// Tries every combination of the keys of each port (with those for all ports) under each format,
/// so that no trial can fail over them: combinations that are no format are errors, more fraction
/// bits than bits a warning, one of each per port.
void check_combinations(const Selector& selector, Diagnostics& diagnostics);

}  // namespace mase::search
