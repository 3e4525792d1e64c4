// SPDX-License-Identifier: Apache-2.0
// Handshake models of the modules that store, split, join and re-cut streams.
#pragma once

#include <algorithm>

#include "hardware/design/handshake/pipe.hpp"

namespace mase::design {

/// stream_resize to fewer lanes: each beat taken brings `in` lanes, each that passes the `stages`
/// registers has `out`.
class NarrowHandshake final : public HandshakeOf<NarrowHandshake> {
 public:
  explicit NarrowHandshake(std::int64_t in, int stages = 0, Stages kept = Stages::all,
                           std::int64_t out = 1)
      : in_(in), out_(out), pipe_(stages, kept) {}
  bool ready(int) const override { return !full() || (pipe_.enable() && lanes_ < 2 * out_); }
  std::int64_t quiet() const override { return acts() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  bool valid(int) const override { return pipe_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const NarrowHandshake&) const = default;

 private:
  bool full() const { return lanes_ >= out_; }
  bool acts() const { return full() && pipe_.enable(); }  ///< without a transfer

  std::int64_t in_, out_, lanes_ = 0;  ///< lanes that have not left
  Pipe pipe_;
};

/// concat: `first` beats of input 0, then `second` beats of input 1.
class ConcatHandshake final : public HandshakeOf<ConcatHandshake> {
 public:
  ConcatHandshake(std::int64_t first, std::int64_t second)
      : first_(first), total_(first + second) {}
  bool ready(int input) const override {
    return skid_.ready() && (index_ >= first_) == (input == 1);
  }
  std::int64_t quiet() const override { return forever; }
  bool valid(int) const override { return skid_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const ConcatHandshake&) const = default;

 private:
  std::int64_t first_, total_, index_ = 0;
  Skid skid_;
};

/// slice: of every `beats` beats passes `count` from `first` on.
class SliceHandshake final : public HandshakeOf<SliceHandshake> {
 public:
  SliceHandshake(std::int64_t beats, std::int64_t first, std::int64_t count)
      : beats_(beats), first_(first), count_(count) {}
  std::int64_t quiet() const override { return forever; }
  bool ready(int) const override { return skid_.ready(); }
  bool valid(int) const override { return skid_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const SliceHandshake&) const = default;

 private:
  std::int64_t beats_, first_, count_, index_ = 0;
  Skid skid_;
};

/// insert: a row is `before` constants, `beats` beats of the input, and `after` constants. A beat
/// of the input waits in a register, and the constants before a row wait for its first beat.
class InsertHandshake final : public HandshakeOf<InsertHandshake> {
 public:
  InsertHandshake(std::int64_t before, std::int64_t beats, std::int64_t after, Stages kept)
      : before_(before), end_(before + beats), row_(before + beats + after), pipe_(1, kept) {}
  bool ready(int) const override { return !full_ || (pipe_.enable() && is_input()); }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return acts() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const InsertHandshake&) const = default;

 private:
  bool is_input() const { return index_ >= before_ && index_ < end_; }
  bool can_leave() const { return full_ || index_ >= end_; }
  bool acts() const { return can_leave() && pipe_.enable(); }

  std::int64_t before_, end_, row_, index_ = 0;  ///< index of the beat in the row that leaves
  bool full_ = false;
  Pipe pipe_;
};

/// gather: room for two frames of `in` beats; of each `out` beats are given, beat i as soon as
/// `start` + i beats or the whole frame are there, the last one only then.
class GatherHandshake final : public HandshakeOf<GatherHandshake> {
 public:
  GatherHandshake(std::int64_t in, std::int64_t out, std::int64_t start, Stages kept)
      : in_(in), out_(out), start_(start), pipe_(1, kept) {}
  bool ready(int) const override { return full_ < 2; }
  bool valid(int) const override { return pipe_.valid(); }
  std::int64_t quiet() const override { return acts() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const GatherHandshake&) const = default;

 private:
  bool can_read() const {
    return full_ > 0 || (read_ + 1 < out_ && written_ >= std::min(start_ + read_, in_));
  }
  bool acts() const { return can_read() && pipe_.enable(); }

  std::int64_t in_, out_, start_;
  std::int64_t written_ = 0, read_ = 0;  ///< beats of the frame that comes in, that goes out
  int full_ = 0;                         ///< whole frames
  Pipe pipe_;
};

/// binary: a skid per input; a pair enters the pipeline when both are there.
class JoinHandshake final : public HandshakeOf<JoinHandshake> {
 public:
  JoinHandshake(int stages, Stages kept) : pipe_(stages, kept) {}
  std::int64_t quiet() const override { return acts() ? 0 : pipe_.quiet(); }
  void skip(std::int64_t edges) override { pipe_.skip(edges); }
  bool ready(int input) const override { return skids_[input].ready(); }
  bool valid(int) const override { return pipe_.valid(); }
  void clock(std::span<const std::uint8_t> taken, std::span<const std::uint8_t> given) override;
  bool operator==(const JoinHandshake&) const = default;

 private:
  bool acts() const { return skids_[0].valid() && skids_[1].valid() && pipe_.enable(); }

  Skid skids_[2];
  Pipe pipe_;
};

}  // namespace mase::design
