// SPDX-License-Identifier: Apache-2.0
// LibTorch comes with c10d's header of gloo's process group, but without the headers of gloo that
// it includes. The few names that it needs of them are declared in gloo_headers/, which the
// compiler searches last.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include "torch/train/process_group.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include "backend/lost_process.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "torch/train/sum_rows.hpp"

namespace mase::train {
namespace {

/// The first sentence of an error of c10d or gloo, without the place in their sources.
std::string reason_of(const std::exception& error) {
  std::string text = error.what();
  text.resize(std::min({text.find('\n'), text.find(". "), text.size()}));
  if (const std::size_t place = text.find("] "); text.starts_with('[') && place != text.npos)
    text.erase(0, place + 2);
  return text;
}

std::chrono::milliseconds timeout_of(const backend::Ranks& ranks) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(ranks.timeout * 1000));
}

std::string name_of(const backend::Ranks& ranks) {
  return "rank " + std::to_string(ranks.rank) + " of " + std::to_string(ranks.size);
}

std::string place_of(const backend::Ranks& ranks) {
  return ranks.host + ":" + std::to_string(ranks.port);
}

[[noreturn]] void not_met(const backend::Ranks& ranks, const std::exception& error) {
  const std::string reason = error.what();
  if (reason.find("Address already in use") != reason.npos)
    file_error(name_of(ranks) + " cannot listen at " + place_of(ranks) +
               ": another program uses the port; set MASTER_PORT to a free one in every process");
  file_error(name_of(ranks) + " did not meet the other processes at " + place_of(ranks) +
             " within " + fixed_text(ranks.timeout, 0) + " s (" + reason_of(error) +
             "); check that all " + std::to_string(ranks.size) +
             " processes run and that MASTER_ADDR is the machine of rank 0, or wait longer with "
             "--timeout");
}

c10::intrusive_ptr<c10d::Store> open_store(const backend::Ranks& ranks) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(ranks.port);
  options.isServer = ranks.rank == 0 && !ranks.served;
  if (!ranks.served) options.numWorkers = static_cast<std::size_t>(ranks.size);
  options.waitWorkers = !ranks.served;
  options.timeout = timeout_of(ranks);
  options.useLibUV = false;
  if (options.isServer) options.masterListenFd = ranks.listener;
  auto store = c10::make_intrusive<c10d::TCPStore>(ranks.host, options);
  return c10::make_intrusive<c10d::PrefixStore>("mase" + ranks.attempt, store);
}

/// The network interface that GLOO_SOCKET_IFNAME names, the loopback of a command on one machine,
/// or the one that this machine's name stands for.
std::shared_ptr<gloo::transport::Device> open_device(const backend::Ranks& ranks) {
  if (const char* name = std::getenv("GLOO_SOCKET_IFNAME"); name != nullptr && *name != '\0')
    return c10d::ProcessGroupGloo::createDeviceForInterface(name);
  if (ranks.host == "127.0.0.1" || ranks.host == "localhost")
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

/// So many bytes as whole lines of the cache.
std::size_t lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

struct ProcessGroup::Connections {
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

  explicit Connections(const backend::Ranks& ranks) : Connections(ranks, open_store(ranks)) {}
  Connections(const backend::Ranks& ranks, c10::intrusive_ptr<c10d::Store> given)
      : store(std::move(given)) {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout_of(ranks));
    options->devices.push_back(open_device(ranks));
    options->threads = 1;
    gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, ranks.rank, ranks.size, options);
  }
};

namespace {

/// Calls `work`, and says of its errors which process saw them.
template <class Work>
auto watched(const backend::Ranks& ranks, Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    file_error(name_of(ranks) + " " + backend::lost_another +
               ", which ended or did not answer within " + fixed_text(ranks.timeout, 0) + " s (" +
               reason_of(error) + "); that process says why, and " + ranks.after_loss);
  }
}

}  // namespace

/// Connects in another thread, since c10d waits forever for a stranger that listens at the port,
/// and does not look whether it is to stop.
std::unique_ptr<ProcessGroup::Connections> ProcessGroup::connect(const backend::Ranks& ranks) {
  auto made = std::make_shared<std::promise<std::unique_ptr<Connections>>>();
  auto result = made->get_future();
  std::thread([made, ranks] {
    try {
      made->set_value(std::make_unique<Connections>(ranks));
    } catch (...) {
      made->set_exception(std::current_exception());
    }
  }).detach();
  const auto end = std::chrono::steady_clock::now() + timeout_of(ranks) + std::chrono::seconds(5);
  while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    stop_if_asked();
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("no answer; perhaps another program listens there");
  }
  return result.get();
}

ProcessGroup::ProcessGroup(const backend::Ranks& ranks) : ranks_(ranks) {
  // What c10d would print becomes an error of this program.
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = 3;
  try {
    connections_ = connect(ranks);
    if (ranks.memory) memory_ = std::make_unique<SharedMemory>(ranks);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    not_met(ranks, error);
  }
}

ProcessGroup::ProcessGroup(const backend::Ranks& ranks, std::unique_ptr<Connections> connections)
    : ranks_(ranks), connections_(std::move(connections)) {}

ProcessGroup::~ProcessGroup() = default;

std::vector<std::string> ProcessGroup::exchange(const std::string& key, const std::string& text) {
  return watched(ranks_, [&] {
    c10d::Store& store = *connections_->store;
    store.set(key + std::to_string(rank()), std::vector<std::uint8_t>(text.begin(), text.end()));
    std::vector<std::string> texts;
    for (int rank = 0; rank < size(); ++rank) {
      const std::vector<std::uint8_t> bytes = store.get(key + std::to_string(rank));
      texts.emplace_back(bytes.begin(), bytes.end());
    }
    connections_->gloo->barrier()->wait();  // rank 0 keeps the texts until all have them
    return texts;
  });
}

void ProcessGroup::sum(const at::Tensor& own, const Shards& shards, const at::Tensor& sums) {
  watched(ranks_,
          [&] { memory_ ? sum_in_memory(own, shards, sums) : sum_by_messages(own, shards, sums); });
}

void ProcessGroup::sum(const at::Tensor& values) {
  sum(values.unsqueeze(0), Shards::of(ranks_, {}, size()), values);
}

/// Every process sums its slice of all numbers.
void ProcessGroup::sum_in_memory(const at::Tensor& own, const Shards& shards,
                                 const at::Tensor& sums) {
  const auto processes = static_cast<std::size_t>(size()), place = static_cast<std::size_t>(rank());
  const auto count = static_cast<std::size_t>(shards.all);
  const std::size_t bytes = sums.nbytes(), line = lines(bytes);
  std::byte* const rows = memory_->bytes((count + 1) * line);
  std::byte* const total = rows + count * line;
  for (std::int64_t i = 0; i < shards.own(); ++i)
    std::memcpy(rows + static_cast<std::size_t>(shards.first + i) * line,
                own.select(0, i).data_ptr(), bytes);
  memory_->meet();
  const std::size_t begin = lines(line * place / processes);
  const std::size_t end = place + 1 == processes ? line : lines(line * (place + 1) / processes);
  sum_rows(sums.scalar_type(), {rows + begin, count, line, end - begin}, total + begin);
  memory_->meet();
  std::memcpy(sums.data_ptr(), total, bytes);
}

/// Every process gets its slice of all numbers, sums it and passes it on.
void ProcessGroup::sum_by_messages(const at::Tensor& own, const Shards& shards,
                                   const at::Tensor& sums) {
  const std::int64_t processes = size(), slice = (sums.numel() + processes - 1) / processes;
  // [shards, processes, slice] becomes [processes, shards, slice], a message for each process.
  at::Tensor padded = at::zeros({shards.own(), processes * slice}, sums.options());
  padded.narrow(1, 0, sums.numel()).copy_(own);
  at::Tensor sent = padded.view({shards.own(), processes, slice}).transpose(0, 1).contiguous();
  sent = sent.view({-1});
  at::Tensor rows = at::empty({shards.all * slice}, sums.options());
  std::vector<std::int64_t> to(static_cast<std::size_t>(processes), shards.own() * slice), from;
  for (std::int64_t other = 0; other < processes; ++other)
    from.push_back((shards.first_of(ranks_, other + 1) - shards.first_of(ranks_, other)) * slice);
  connections_->gloo->alltoall_base(rows, sent, from, to)->wait();
  at::Tensor part = at::empty({slice}, sums.options());
  at::Tensor all = at::empty({processes * slice}, sums.options());
  sum_rows(sums.scalar_type(),
           {static_cast<std::byte*>(rows.data_ptr()), static_cast<std::size_t>(shards.all),
            part.nbytes(), part.nbytes()},
           static_cast<std::byte*>(part.data_ptr()));
  connections_->gloo->_allgather_base(all, part)->wait();
  sums.copy_(all.narrow(0, 0, sums.numel()));
}

void ProcessGroup::gather(const at::Tensor& own, const Shards& shards, const at::Tensor& all) {
  watched(ranks_, [&] {
    memory_ ? gather_in_memory(own, shards, all) : gather_by_messages(own, shards, all);
  });
}

void ProcessGroup::gather_in_memory(const at::Tensor& own, const Shards& shards,
                                    const at::Tensor& all) {
  std::byte* const rows = memory_->bytes(all.nbytes());
  const std::size_t row = all.nbytes() / static_cast<std::size_t>(shards.all);
  std::memcpy(rows + static_cast<std::size_t>(shards.first) * row, own.data_ptr(), own.nbytes());
  memory_->meet();
  std::memcpy(all.data_ptr(), rows, all.nbytes());
  memory_->meet();  // all have read them
}

/// Every process sends as many rows as the one with the most shards has.
void ProcessGroup::gather_by_messages(const at::Tensor& own, const Shards& shards,
                                      const at::Tensor& all) {
  const std::int64_t most = (shards.all + size() - 1) / size(), count = own.size(1);
  const at::Tensor sent = at::zeros({most, count}, own.options());
  sent.narrow(0, 0, own.size(0)).copy_(own);
  at::Tensor rows = at::empty({size(), most, count}, own.options());
  at::Tensor given = sent.view({-1}), taken = rows.view({-1});
  connections_->gloo->_allgather_base(taken, given)->wait();
  for (std::int64_t rank = 0; rank < size(); ++rank) {
    const std::int64_t first = shards.first_of(ranks_, rank);
    const std::int64_t own_of_rank = shards.first_of(ranks_, rank + 1) - first;
    all.narrow(0, first, own_of_rank).copy_(rows.select(0, rank).narrow(0, 0, own_of_rank));
  }
}

void ProcessGroup::broadcast(at::Tensor values) {
  std::vector<at::Tensor> list{std::move(values)};
  watched(ranks_, [&] { return connections_->gloo->broadcast(list)->wait(); });
}

std::vector<at::Tensor> ProcessGroup::gather(const at::Tensor& values) {
  std::vector<at::Tensor> given{values};
  std::vector<std::vector<at::Tensor>> all;
  if (is_first()) {
    all.resize(1);
    for (int rank = 0; rank < size(); ++rank) all.front().push_back(at::empty_like(values));
  }
  watched(ranks_, [&] { return connections_->gloo->gather(all, given)->wait(); });
  return is_first() ? all.front() : std::vector<at::Tensor>();
}

std::vector<at::Tensor> ProcessGroup::gather_to_all(const at::Tensor& values) {
  std::vector<at::Tensor> given{values};
  std::vector<std::vector<at::Tensor>> all(1);
  for (int rank = 0; rank < size(); ++rank) all.front().push_back(at::empty_like(values));
  watched(ranks_, [&] { return connections_->gloo->allgather(all, given)->wait(); });
  return all.front();
}

std::vector<at::Tensor> ProcessGroup::exchange_parts(const std::vector<at::Tensor>& parts) {
  at::Tensor given = at::stack(parts), taken = at::empty_like(given);
  std::vector<std::int64_t> equal;
  watched(ranks_,
          [&] { return connections_->gloo->alltoall_base(taken, given, equal, equal)->wait(); });
  return taken.unbind();
}

std::unique_ptr<ProcessGroup> ProcessGroup::part(const std::string& name,
                                                 const std::vector<int>& members) {
  backend::Ranks ranks = ranks_;
  ranks.size = static_cast<int>(members.size());
  ranks.rank = static_cast<int>(std::ranges::find(members, rank()) - members.begin());
  auto store = c10::make_intrusive<c10d::PrefixStore>(name, connections_->store);
  return watched(ranks_, [&] {
    return std::unique_ptr<ProcessGroup>(
        new ProcessGroup(ranks, std::make_unique<Connections>(ranks, std::move(store))));
  });
}

void ProcessGroup::send(const at::Tensor& values, int to, int tag) {
  std::vector<at::Tensor> list{values};
  watched(ranks_, [&] { return connections_->gloo->send(list, to, tag)->wait(); });
}

void ProcessGroup::receive(const at::Tensor& values, int from, int tag) {
  std::vector<at::Tensor> list{values};
  watched(ranks_, [&] { return connections_->gloo->recv(list, from, tag)->wait(); });
}

void ProcessGroup::wait_for_all() {
  watched(ranks_, [&] { return connections_->gloo->barrier()->wait(); });
}

}  // namespace mase::train
