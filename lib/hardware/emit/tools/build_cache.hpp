// SPDX-License-Identifier: Apache-2.0
// Built programs, kept for the next run in a folder that belongs to the user.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace mase::emit {

/// An entry of the cache. While it lives, no other process removes it.
struct KeptBuild {
  std::string folder;
  bool built = false;               ///< false: it was there
  std::shared_ptr<const int> lock;  ///< a file descriptor, closed with the last copy
};

/// Folders by a name that says all that went into them. Several processes may use one cache at
/// once.
class BuildCache {
 public:
  static constexpr std::uintmax_t usual_limit = std::uintmax_t{1} << 30;

  /// `limit`: bytes of all entries, from which on those that were not used for longest go.
  explicit BuildCache(std::string folder, std::uintmax_t limit = usual_limit)
      : folder_(std::move(folder)), limit_(limit) {}

  /// The cache of the user; one of this process, removed at its end, where the user has none.
  static BuildCache of_user();

  /// The entry `name`. Where there is none, `build` fills an empty folder, which becomes the entry
  /// when `build` returns; when it throws, nothing stays.
  KeptBuild get(const std::string& name,
                const std::function<void(const std::string& folder)>& build) const;

 private:
  void remove_oldest() const;

  std::string folder_;
  std::uintmax_t limit_;
};

}  // namespace mase::emit
