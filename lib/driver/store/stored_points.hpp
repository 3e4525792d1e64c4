// SPDX-License-Identifier: Apache-2.0
// Best points of a study in a store: `best/trial_N` has the checkpoint graph_module.pt,
// transform.toml, and point.json, which is written last and has their hashes. A point without it is
// not there yet. study.json says whose points these are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"
#include "driver/store/store.hpp"

namespace mase::driver {

inline constexpr std::string_view stored_checkpoint = "graph_module.pt";
inline constexpr std::string_view stored_configuration = "transform.toml";
inline constexpr const char* point_file = "point.json";
inline constexpr const char* study_file = "study.json";

/// The texts of a list.
std::vector<std::string> words_in(const Tree& list);

/// "best/trial_3".
std::string point_name(std::int64_t number);

/// The contents of study.json.
struct StoredStudy {
  std::string name;
  std::string id;                       ///< of the study in its database
  std::vector<std::string> directions;  ///< "minimize" or "maximize", one for each objective
  std::vector<std::string> objectives;
};
Tree to_tree(const StoredStudy& study);
/// Error(Fault::file) if the store has no study.
StoredStudy stored_study(const Store& store);

/// Writes study.json, if the store has none. Error(Fault::config) if the store has another study.
void claim_store(const Store& store, const std::string& study);

/// {"sha256", "bytes"} of a file.
Tree file_entry(const std::string& path);
/// The same of a file of a point, as its point.json says it.
Tree stored_entry(const Tree& about, const std::string& file, const std::string& address);
/// Copies a point, a folder with the three files, to the store. Does nothing if the store has it.
/// Error(Fault::config) if the store has another one there.
void put_stored_point(const Store& store, const std::string& folder);

/// Copies a file of a point, whose point.json is `about`, to `path`. Error(Fault::file) if it is
/// not the file that point.json describes.
void get_stored_file(const Store& point, const Tree& about, const std::string& file,
                     const std::string& path);
/// Copies the checkpoint of a trial with these parameters, a JSON dict, into a folder. Does nothing
/// if the store has no such point. Error(Fault::config) if the store has another one there.
void get_stored_checkpoint(const Store& store, std::int64_t number, const std::string& parameters,
                           const std::string& folder);

/// A point as its point.json describes it.
struct StoredPoint {
  std::int64_t number = 0;
  std::string address;
  std::vector<double> values;               ///< one for each objective
  Tree metrics, parameters = Tree::dict();  ///< by name
};
/// The best of all points of the store, by number.
std::vector<StoredPoint> best_stored_points(const Store& store, const StoredStudy& study);

/// The file of this user's cache that has what an address names; other texts are returned
/// unchanged. An address names a point, one of its files, or a study with one best point. `wanted`
/// is the file of the point to take. Whatever is in the cache is compared with the hash in the
/// store. Error(Fault::config) if a study has several best points; Error(Fault::file) if the store
/// cannot be read, or a file is not the one that point.json describes.
std::string local_file(const std::string& address, std::string_view wanted = stored_checkpoint);

}  // namespace mase::driver
