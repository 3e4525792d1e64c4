// SPDX-License-Identifier: Apache-2.0
// Handshake models of the modules that store, split, join and re-cut streams.
#pragma once

#include "hardware/design/timing/handshake/pipe.hpp"

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
