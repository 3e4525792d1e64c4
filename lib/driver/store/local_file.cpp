// SPDX-License-Identifier: Apache-2.0
// Files of a store in the cache: each lies in a folder named by the hash of its point.json, so a
// point that has changed gets another place, and nothing is replaced.
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/leftovers.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "driver/store/stored_copies.hpp"
#include "driver/store/stored_points.hpp"
#include "sandbox/policy.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

/// A file of a point.
struct Place {
  std::string point, file;
};

bool is_point(const fs::path& path) {
  return path.parent_path().filename() == "best" && path.filename().string().starts_with("trial_");
}

/// The point of an address that names one, or a file of one.
std::optional<Place> named_point(const std::string& address, std::string_view wanted) {
  const fs::path path = address;
  for (const std::string_view file : {stored_checkpoint, stored_configuration})
    if (path.filename() == file && is_point(path.parent_path()))
      return Place{address.substr(0, address.rfind('/')), std::string(file)};
  if (is_point(path)) return Place{address, std::string(wanted)};
  return std::nullopt;
}

/// The address of the study's only best point.
std::string only_point(const Store& store) {
  const std::vector<StoredPoint> best = best_stored_points(store, stored_study(store));
  if (best.size() == 1) return best.front().address;
  if (best.empty()) file_error(store.address() + " has no best point yet");
  config_error(store.address() + " has " + std::to_string(best.size()) +
               " best points; name one, such as " + best.front().address +
               " (`mase study show --storage " + store.address() + "` lists them)");
}

std::string fetch(const Place& place) {
  const double limit = stored_copies_limit();
  const Store store(place.point);
  const auto about = store.read(point_file);
  if (!about) file_error(place.point + ": the store has no such point, or not yet all of it");
  const Tree description = parse_json(*about, store.address_of(point_file));
  const std::string path = stored_copy_folder(place.point, *about) + "/" + place.file;
  if (!file_exists(path) ||
      file_entry(path) != stored_entry(description, place.file, place.point)) {
    log::info("copying " + store.address_of(place.file) + " to " + path);
    get_stored_file(store, description, place.file, path);
  }
  use_stored_copy(path, limit);
  return path;
}

}  // namespace

std::string local_file(const std::string& address, std::string_view wanted) {
  if (!names_store(address)) return address;
  static std::map<std::pair<std::string, std::string>, std::string> known;
  std::string& path = known[{address, std::string(wanted)}];
  if (!path.empty()) return path;
  const Store store(address);
  const auto named = named_point(store.address(), wanted);
  path = fetch(named ? *named : Place{only_point(store), std::string(wanted)});
  sandbox::may_read(path);
  return path;
}

}  // namespace mase::driver
