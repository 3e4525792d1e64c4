// SPDX-License-Identifier: Apache-2.0
// Compares handshakes with those of the last designs, and repeats what was found for them.
#include "hardware/design/building/known_fifos.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>

#include "hardware/design/building/network.hpp"
#include "hardware/design/building/size_fifos.hpp"
#include "hardware/design/modules/fifo.hpp"

namespace mase::design {

Handshakes::Handshakes(const Design& design, std::int64_t interval) : numbers_{interval} {
  const auto add = [&](const std::vector<StreamId>& ids) {
    numbers_.push_back(static_cast<std::int64_t>(ids.size()));
    numbers_.insert(numbers_.end(), ids.begin(), ids.end());
  };
  add(design.inputs);
  add(design.outputs);
  for (const Stream& stream : design.streams) numbers_.push_back(stream.beats());
  for (const std::size_t fifo : design.fifos()) numbers_.push_back(static_cast<std::int64_t>(fifo));
  for (const Instance& instance : design.instances) {
    add(instance.inputs);
    add(instance.outputs);
    models_.push_back(table_handshake(instance));
    models_.push_back(least_handshake(instance));
  }
}

bool Handshakes::operator==(const Handshakes& other) const {
  return numbers_ == other.numbers_ &&
         std::ranges::equal(models_, other.models_,
                            [](const auto& a, const auto& b) { return a->equals(*b); });
}

namespace {

/// The last designs of this process, the newest first.
class Known {
 public:
  std::optional<SizedFifos> find(const Handshakes& handshakes) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return entry.handshakes == handshakes; });
    if (found == entries_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found);
    return found->sized;
  }
  void add(Handshakes handshakes, SizedFifos sized) {
    const std::lock_guard lock(mutex_);
    models_ += handshakes.size();
    entries_.push_front({std::move(handshakes), std::move(sized)});
    for (; models_ > most_models && entries_.size() > 1; entries_.pop_back())
      models_ -= entries_.back().handshakes.size();
  }

 private:
  static constexpr std::size_t most_models = 100'000;
  struct Entry {
    Handshakes handshakes;
    SizedFifos sized;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;
  std::size_t models_ = 0;  ///< of all entries
};

/// The depths that the FIFOs with these names have now.
SizedFifos sized_as(const Design& design, const std::vector<std::string>& names) {
  std::map<std::string, std::int64_t> depths;
  for (const std::size_t i : design.fifos())
    depths[design.instances[i].name] = depth_of(design.instances[i]);
  SizedFifos sized{{}, design.timing};
  for (const std::string& name : names) {
    const auto found = depths.find(name);
    sized.depths.push_back(found == depths.end() ? std::nullopt : std::optional(found->second));
  }
  return sized;
}

void apply(const SizedFifos& sized, Design& design) {
  const std::vector<std::size_t> fifos = design.fifos();
  std::vector<std::size_t> gone;
  for (std::size_t f = 0; f < fifos.size(); ++f)
    if (sized.depths[f])
      set_depth(design.instances[fifos[f]], *sized.depths[f]);
    else
      gone.push_back(fifos[f]);
  remove_fifos(design, gone);
  design.timing = sized.timing;
}

}  // namespace

void size_as_known(Design& design, std::int64_t interval,
                   const std::function<void(Design& design)>& size) {
  static Known known;
  Handshakes handshakes(design, interval);
  if (const auto sized = known.find(handshakes)) return apply(*sized, design);
  std::vector<std::string> names;
  for (const std::size_t i : design.fifos()) names.push_back(design.instances[i].name);
  size(design);
  known.add(std::move(handshakes), sized_as(design, names));
}

}  // namespace mase::design
