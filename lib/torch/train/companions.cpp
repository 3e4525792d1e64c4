// SPDX-License-Identifier: Apache-2.0
// A message is its length and its bytes. Where all give one, each is as long as the longest.
#include "torch/train/companions.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "torch/train/process_group.hpp"

namespace mase::train {
namespace {

at::Tensor length_tensor(std::int64_t length) {
  at::Tensor one = at::empty({1}, at::kLong);
  *one.data_ptr<std::int64_t>() = length;
  return one;
}

std::string text_in(const at::Tensor& bytes, std::int64_t length) {
  return {static_cast<const char*>(bytes.data_ptr()), static_cast<std::size_t>(length)};
}

/// Does `receive`. Where another process has left because of an interrupt, this one was
/// interrupted, too, and says so.
template <class Receive>
auto received(const Receive& receive) {
  try {
    return receive();
  } catch (const Error&) {
    stop_if_asked();
    throw;
  }
}

class GroupCompanions final : public Companions {
 public:
  explicit GroupCompanions(const backend::Ranks& ranks) : group_(ranks) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }

  std::vector<std::string> gather(const std::string& bytes) override {
    return received([&] { return gathered(bytes); });
  }

  void give_to_first(const std::string& bytes) override {
    const auto length = static_cast<std::int64_t>(bytes.size());
    group_.send(length_tensor(length), 0, 0);
    if (length == 0) return;
    const at::Tensor sent = at::empty({length}, at::kByte);
    std::memcpy(sent.data_ptr(), bytes.data(), bytes.size());
    group_.send(sent, 0, 0);
  }

  std::string take_from(int rank) override {
    return received([&] { return taken_from(rank); });
  }

 private:
  std::vector<std::string> gathered(const std::string& bytes) {
    const auto own = static_cast<std::int64_t>(bytes.size());
    std::vector<std::int64_t> lengths;
    for (const at::Tensor& length : group_.gather_to_all(length_tensor(own)))
      lengths.push_back(*length.data_ptr<std::int64_t>());
    const std::int64_t longest = *std::ranges::max_element(lengths);
    std::vector<std::string> all(lengths.size());
    if (longest == 0) return all;
    const at::Tensor sent = at::zeros({longest}, at::kByte);
    std::memcpy(sent.data_ptr(), bytes.data(), bytes.size());
    const std::vector<at::Tensor> taken = group_.gather_to_all(sent);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = text_in(taken[i], lengths[i]);
    return all;
  }

  std::string taken_from(int rank) {
    const at::Tensor length = length_tensor(0);
    group_.receive(length, rank, 0);
    const std::int64_t bytes = *length.data_ptr<std::int64_t>();
    if (bytes == 0) return "";
    const at::Tensor taken = at::empty({bytes}, at::kByte);
    group_.receive(taken, rank, 0);
    return text_in(taken, bytes);
  }

  ProcessGroup group_;
};

}  // namespace

std::unique_ptr<Companions> meet_companions(const backend::Ranks& ranks) {
  return std::make_unique<GroupCompanions>(ranks);
}

}  // namespace mase::train
