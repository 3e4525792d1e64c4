// Handshake twins of the modules that store, split, join and re-cut streams.
#pragma once

#include <vector>

#include "hardware/design/control/pipe.hpp"

namespace mase::design {

/// fifo: a memory of `depth` beats and an output register.
class FifoControl final : public TwinOf<FifoControl> {
 public:
  explicit FifoControl(std::int64_t depth) : depth_(depth) {}
  bool ready(int) const override { return count_ != depth_; }
  bool valid(int) const override { return valid_; }
  bool idle() const override { return count_ == 0 || valid_; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const FifoControl&) const = default;

 private:
  std::int64_t depth_, count_ = 0;  ///< beats in the memory
  bool valid_ = false;              ///< of the output register
};

/// stream_fork: one skid per output, filled together.
class ForkControl final : public TwinOf<ForkControl> {
 public:
  explicit ForkControl(std::int64_t outputs) : skids_(static_cast<std::size_t>(outputs)) {}
  bool ready(int) const override;
  bool valid(int output) const override { return skids_[static_cast<std::size_t>(output)].valid(); }
  bool idle() const override { return true; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const ForkControl&) const = default;

 private:
  std::vector<Skid> skids_;
};

/// stream_resize to fewer lanes: each beat taken gives `ratio` beats.
class NarrowControl final : public TwinOf<NarrowControl> {
 public:
  explicit NarrowControl(std::int64_t ratio) : ratio_(ratio) {}
  bool ready(int) const override { return !full_ || (skid_.ready() && index_ == ratio_ - 1); }
  bool idle() const override { return !full_ || !skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const NarrowControl&) const = default;

 private:
  std::int64_t ratio_, index_ = 0;  ///< index of the piece that leaves next
  bool full_ = false;
  Skid skid_;
};

/// stream_resize to more lanes: `ratio` beats taken give one.
class WidenControl final : public TwinOf<WidenControl> {
 public:
  explicit WidenControl(std::int64_t ratio) : ratio_(ratio) {}
  bool ready(int) const override { return index_ != ratio_ - 1 || !valid_; }
  bool idle() const override { return true; }
  bool valid(int) const override { return valid_; }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const WidenControl&) const = default;

 private:
  std::int64_t ratio_, index_ = 0;
  bool valid_ = false;
};

/// concat: `first` beats of input 0, then `second` beats of input 1.
class ConcatControl final : public TwinOf<ConcatControl> {
 public:
  ConcatControl(std::int64_t first, std::int64_t second) : first_(first), total_(first + second) {}
  bool ready(int input) const override {
    return skid_.ready() && (index_ >= first_) == (input == 1);
  }
  bool idle() const override { return true; }
  bool valid(int) const override { return skid_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const ConcatControl&) const = default;

 private:
  std::int64_t first_, total_, index_ = 0;
  Skid skid_;
};

/// slice: of every `beats` beats passes `count` from `first` on.
class SliceControl final : public TwinOf<SliceControl> {
 public:
  SliceControl(std::int64_t beats, std::int64_t first, std::int64_t count)
      : beats_(beats), first_(first), count_(count) {}
  bool idle() const override { return true; }
  bool ready(int) const override { return skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const SliceControl&) const = default;

 private:
  std::int64_t beats_, first_, count_, index_ = 0;
  Skid skid_;
};

/// binary: a skid per input; a pair enters the pipeline when both are there.
class JoinControl final : public TwinOf<JoinControl> {
 public:
  explicit JoinControl(int stages) : pipe_(stages) {}
  bool idle() const override {
    return !pipe_.enable() || (pipe_.idle() && !(skids_[0].valid() && skids_[1].valid()));
  }
  bool ready(int input) const override { return skids_[input].ready(); }
  bool valid(int) const override { return pipe_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const JoinControl&) const = default;

 private:
  Skid skids_[2];
  Pipe pipe_;
};

}  // namespace mase::design
