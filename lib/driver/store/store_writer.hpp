// SPDX-License-Identifier: Apache-2.0
// StoreWriter copies files to a store, and from it, in a process of its own. That process keeps the
// rights to connect and to run programs, which this one gives up before it reads a model, and
// copies while this one goes on.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "driver/store/store.hpp"

namespace mase::driver {

class StoreWriter {
 public:
  /// Why an order was not carried out; nothing if it was.
  using Failure = std::optional<Error>;
  using OnDone = std::function<void(const Failure& failure)>;

  /// Starts the process. No other thread may run, and the sandbox must not have been entered.
  /// Error(Fault::file) if that fails.
  explicit StoreWriter(const Store& store);
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;
  ~StoreWriter();  ///< ends the process, and what it is still copying, when this one ends

  /// Orders are carried out one after the other. `done` is called by `look` or `wait`.
  /// Makes the store that of a study (stored_points.hpp), as this JSON text says.
  void claim(const std::string& study, OnDone done);
  /// Copies the checkpoint of a trial from the store (get_stored_checkpoint).
  void get_checkpoint(std::int64_t number, const std::string& parameters, const std::string& folder,
                      OnDone done);
  /// Copies a point, which lies in a folder (stored_points.hpp).
  void put_point(const std::string& folder, OnDone done);
  /// Copies files of a folder.
  void put_files(const std::string& folder, std::vector<std::string> names, OnDone done);

  void look();  ///< takes the answers that have come
  void wait();  ///< until all orders are done, or have failed
  std::size_t waiting() const { return orders_.size(); }

 private:
  void send(const std::vector<std::string>& words, OnDone done);
  bool take_answer(int milliseconds);

  std::optional<Descriptor> socket_;
  std::deque<OnDone> orders_;
};

}  // namespace mase::driver
