// SPDX-License-Identifier: Apache-2.0
// Writes points and studies to a store, and finds the best points of a store.
#include "driver/store/stored_points.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"
#include "search/samplers/pareto.hpp"

namespace mase::driver {
namespace {

/// Calls `read`, and gives an error of what is in a file of the store its name.
template <class Read>
auto from_json(const std::string& text, const std::string& address, const Read& read) {
  try {
    return read(parse_json(text, address));
  } catch (const Error& error) {
    if (error.fault() == Fault::file) throw;
    file_error(address + " was not written by mase search, or is damaged");
  }
}

StoredStudy study_in(const std::string& text, const std::string& address) {
  return from_json(text, address, [](const Tree& tree) {
    return StoredStudy{tree.at("name").as_string(), tree.at("id").as_string(),
                       words_in(tree.at("directions")), words_in(tree.at("objectives"))};
  });
}

/// JSON has no infinities and no NaN; both are null in it.
double value_in(const Tree& tree) {
  return tree.is_null() ? std::numeric_limits<double>::quiet_NaN() : tree.as_double();
}

StoredPoint point_in(const std::string& text, const std::string& address) {
  return from_json(text, address, [&](const Tree& tree) {
    StoredPoint point{
        tree.at("number").as_int(), address, {}, tree.at("metrics"), tree.at("parameters")};
    for (const Tree& value : tree.at("values").as_list()) point.values.push_back(value_in(value));
    return point;
  });
}

bool is_same(const StoredPoint& one, const StoredPoint& other) {
  return one.number == other.number && one.parameters == other.parameters;
}

/// All points that a folder has below it.
std::vector<StoredPoint> points_below(const std::string& folder, const Store& store) {
  std::vector<StoredPoint> points;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != point_file) continue;
    const std::string name = "best/" + entry.path().parent_path().filename().string();
    points.push_back(point_in(read_file(entry.path().string()), store.address_of(name)));
  }
  std::ranges::sort(points, {}, &StoredPoint::number);
  return points;
}

}  // namespace

std::vector<std::string> words_in(const Tree& list) {
  std::vector<std::string> words;
  for (const Tree& word : list.as_list()) words.push_back(word.as_string());
  return words;
}

std::string point_name(std::int64_t number) { return "best/trial_" + std::to_string(number); }

Tree to_tree(const StoredStudy& study) {
  Tree tree = Tree::dict();
  tree["name"] = study.name;
  tree["id"] = study.id;
  tree["directions"] = Tree::list_of(study.directions);
  tree["objectives"] = Tree::list_of(study.objectives);
  return tree;
}

StoredStudy stored_study(const Store& store) {
  const auto text = store.read(study_file);
  if (!text)
    file_error(store.address() + ": there is no study in the store; `mase search --store " +
               store.address() + "` copies one there");
  return study_in(*text, store.address_of(study_file));
}

void claim_store(const Store& store, const std::string& study) {
  const StoredStudy ours = study_in(study, study_file);
  if (const auto text = store.read(study_file)) {
    const StoredStudy theirs = study_in(*text, store.address_of(study_file));
    if (theirs.name == ours.name && theirs.id == ours.id) return;
    config_error(store.address() + " has the best points of another study, '" + theirs.name + "'" +
                 (theirs.name == ours.name ? " of another database" : "") +
                 "; name another folder of the store (--store)");
  }
  const RunFolder folder;
  write_file(folder.file(study_file), study);
  store.put(folder.file(study_file), study_file);
}

Tree file_entry(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 hash;
  std::string piece(std::size_t{1} << 20, '\0');
  std::int64_t bytes = 0;
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes += file.gcount();
    hash.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  if (!file.eof()) file_error(path + ": cannot be read");
  Tree entry = Tree::dict();
  entry["sha256"] = hash.finish();
  entry["bytes"] = bytes;
  return entry;
}

Tree stored_entry(const Tree& about, const std::string& file, const std::string& address) {
  const Tree* files = about.find("files");
  const Tree* entry = files ? files->find(file) : nullptr;
  if (!entry || !entry->find("sha256")) file_error(address + " says nothing of the file " + file);
  return *entry;
}

void get_stored_file(const Store& point, const Tree& about, const std::string& file,
                     const std::string& path) {
  const Tree entry = stored_entry(about, file, point.address());
  write_file_with(path, [&](const std::string& temporary) {
    point.get(file, temporary);
    if (file_entry(temporary) != entry)
      file_error(point.address_of(file) + " is not the file that " + point_file +
                 " beside it describes: it was changed, or another program wrote it");
  });
}

namespace {

[[noreturn]] void refuse_other_point(const std::string& address) {
  config_error(address +
               " has other parameters than this trial; name another folder of the store (--store)");
}

}  // namespace

void get_stored_checkpoint(const Store& store, std::int64_t number, const std::string& parameters,
                           const std::string& folder) {
  const Store point(store.address_of(point_name(number)), store.patience());
  const auto text = point.read(point_file);
  if (!text) return;
  const StoredPoint found = point_in(*text, point.address_of(point_file));
  if (found.number != number || found.parameters != parse_json(parameters, "order"))
    refuse_other_point(point.address());
  const std::string file(stored_checkpoint);
  get_stored_file(point, parse_json(*text, point.address_of(point_file)), file,
                  folder + "/" + file);
}

void put_stored_point(const Store& store, const std::string& folder) {
  const std::string about = folder + "/" + point_file;
  const StoredPoint point = point_in(read_file(about), about);
  const std::string name = point_name(point.number), written = name + "/" + point_file;
  if (const auto text = store.read(written)) {
    if (is_same(point_in(*text, written), point)) return;
    refuse_other_point(store.address_of(name));
  }
  store.put_files(folder, {std::string(stored_checkpoint), std::string(stored_configuration)},
                  name);
  store.put(about, written);
}

std::vector<StoredPoint> best_stored_points(const Store& store, const StoredStudy& study) {
  const RunFolder folder;
  store.get_named("best", point_file, folder.make("best"));
  std::vector<StoredPoint> points = points_below(folder.file("best"), store), best;
  std::vector<samplers::Trial> trials;
  for (const StoredPoint& point : points) {
    samplers::Trial& trial = trials.emplace_back();
    trial.state = samplers::TrialState::complete;
    trial.values = point.values;
    if (point.values.size() != study.directions.size())
      file_error(point.address + " has other objectives than " + store.address_of(study_file));
  }
  std::vector<samplers::Direction> directions;
  for (const std::string& word : study.directions)
    directions.push_back(word == "maximize" ? samplers::Direction::maximize
                                            : samplers::Direction::minimize);
  for (const std::size_t index : samplers::best_trials(trials, directions))
    best.push_back(std::move(points[index]));
  return best;
}

}  // namespace mase::driver
