// SPDX-License-Identifier: Apache-2.0
// A store keeps files for all hosts: a bucket of Amazon S3, or of a server that speaks its protocol
// (MinIO, Ceph, ...). The program of its kind copies the files, and knows endpoints and keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mase::driver {

/// A kind of store.
struct StoreKind {
  using Words = std::vector<std::string>;

  std::string_view scheme;   ///< "s3://", with which its addresses begin
  std::string_view form;     ///< "s3://BUCKET/PREFIX"
  std::string_view program;  ///< what copies files
  /// The command that copies one file, to the store or from it.
  Words (*copy)(const std::string& from, const std::string& to);
  /// The command that prints a file of the store.
  Words (*print)(const std::string& from);
  /// The command that copies the files of a folder whose paths match one of these patterns.
  Words (*copy_some)(const std::string& from, const Words& patterns, const std::string& to);
};

const std::vector<StoreKind>& store_table();
/// "s3://BUCKET/PREFIX": the forms of all kinds.
std::string store_forms();
/// Whether a text is the address of a store, or of something in it.
bool names_store(const std::string& text);

/// A folder of a store. Every error says what to do, and no message has a key or a password.
class Store {
 public:
  /// Connects to nothing. Error(Fault::config) for an address that does not name a store;
  /// Error(Fault::file) if the program is missing. `patience` is the time in seconds to try again
  /// for when the store cannot be reached.
  explicit Store(const std::string& address, double patience = 0);

  const std::string& address() const { return address_; }
  double patience() const { return patience_; }
  void set_patience(double seconds) { patience_ = seconds; }
  std::string address_of(const std::string& name) const { return address_ + "/" + name; }

  /// The text of a file; nothing if the store has no such file.
  std::optional<std::string> read(const std::string& name) const;
  void get(const std::string& name, const std::string& file) const;
  void put(const std::string& file, const std::string& name) const;
  /// Copies files of a folder to one of the store, or to the store itself if `name` is empty.
  void put_files(const std::string& folder, const StoreKind::Words& files,
                 const std::string& name) const;
  /// Copies all files of this name below a folder of the store.
  void get_named(const std::string& below, const std::string& name,
                 const std::string& folder) const;

 private:
  /// Runs a command. Returns what it printed, or nothing if the store has no such file.
  std::optional<std::string> run(const StoreKind::Words& command, const std::string& what) const;

  const StoreKind* kind_;
  std::string address_;
  double patience_;
};

}  // namespace mase::driver
