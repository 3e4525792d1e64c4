// SPDX-License-Identifier: Apache-2.0
// Config: the settings of a model in config.json, and which of them were looked at.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/tree.hpp"

namespace mase::huggingface {

/// Null and a missing key are the same but for `is_none`. Every member throws Error(Fault::file)
/// that names file and key for a value of another kind than it is asked for.
class Config {
 public:
  /// Error(Fault::file) when the file is not a JSON table.
  explicit Config(const std::string& path);

  const std::string& path() const { return path_; }
  const Tree* find(std::string_view key) const;
  /// A size; Error when it is missing or not positive.
  std::int64_t size(std::string_view key) const;
  std::int64_t size(std::string_view key, std::int64_t otherwise) const;
  std::int64_t layers(std::string_view key) const;  ///< a size that is a number of layers
  /// One size over another; Error when the other does not divide it.
  std::int64_t quotient(std::string_view key, std::string_view by) const;
  /// Whether the file says null, which is not the same as leaving out a key with a default.
  bool is_none(std::string_view key) const;
  std::vector<std::int64_t> sizes(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key, double otherwise) const;
  bool truth(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, const std::string& otherwise) const;
  /// Height and width, from one number or two.
  std::pair<std::int64_t, std::int64_t> sides(std::string_view key) const;
  /// How many classes a head tells apart.
  std::int64_t labels() const;
  /// The name of a class in `id2label`; nullopt if there is none.
  std::optional<std::string> label(std::int64_t number) const;

  /// Error(Fault::unsupported) that names the key unless it is missing or has this value.
  void require(std::string_view key, const Tree& only) const;
  [[noreturn]] void refuse(std::string_view key, const std::string& known) const;
  [[noreturn]] void wrong(std::string_view key, const std::string& reason) const;

  /// The keys that nothing has read and that are not known to leave the computation as it is.
  std::vector<std::string> unread() const;

 private:
  std::string path_;
  Tree tree_;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace mase::huggingface
