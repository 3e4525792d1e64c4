// SPDX-License-Identifier: Apache-2.0
// Copies the best points of a search to a store while it runs, and its results at the end.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/run_folder.hpp"
#include "driver/search_task.hpp"
#include "driver/store/store_writer.hpp"

namespace mase::driver {

/// The store of a study. A failure to copy something stops no trial; the end tries it again.
class SearchStore {
 public:
  /// Starts the process that copies; must come before the sandbox is entered.
  SearchStore(const Store& store, const Session& session);

  /// Makes the store that of the plan's study, and has its evaluations keep their models for
  /// `take`. Task and plan must stay. Error(Fault::file) if the store cannot be written;
  /// Error(Fault::config) if it has another study.
  void join(const SearchTask& task, search::Plan& plan);
  /// Copies the model of a trial that this thread evaluated, if it is one of the best so far.
  void take(const storage::Record& record);
  /// Copies the checkpoint of a trial from the store to a file that lasts until the next call, and
  /// returns its path. Returns nothing if the store does not have it, and warns if the store cannot
  /// be read.
  std::optional<std::string> get(const storage::Record& record);
  /// Copies the best points that are not in the store from `folder`, and the results in it.
  void put_results(const search::StudyResult& result, const std::string& folder);
  /// Waits until everything is copied. Returns "", or what could not be copied and why.
  std::string finish();

 private:
  std::optional<ir::Graph> kept_model();
  bool is_best(const storage::Record& record);
  void put(const storage::Record& record);
  std::string folder_of(const storage::Record& record) const;
  std::string configuration_of(const storage::Record& record) const;
  void describe(const storage::Record& record) const;
  void tell(const std::string& what, const StoreWriter::Failure& failure);

  const Session& session_;
  const SearchTask* task_ = nullptr;
  const search::Plan* plan_ = nullptr;
  std::string address_;
  RunFolder folder_;
  StoreWriter writer_;
  std::mutex keeping_;
  std::map<std::thread::id, ir::Graph> models_;  ///< that threads evaluated last
  std::unique_ptr<storage::Storage> storage_;
  std::vector<samplers::Trial> front_;  ///< the best of this process
  std::set<std::int64_t> stored_;
  std::string problem_;
};

}  // namespace mase::driver
