// SPDX-License-Identifier: Apache-2.0
// What the result of a node is while a graph is lowered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/format.hpp"
#include "hardware/integer/lowering/layout.hpp"
#include "hardware/integer/lowering/staircase.hpp"
#include "hardware/integer/program.hpp"
#include "hardware/integer/program/bounds.hpp"

namespace mase::integer {

/// Thrown by a lowering function: why the node has no datapath. An empty reason says that one of
/// its inputs was refused, which is reported already.
struct Refusal {
  std::string reason;
};

/// The result of a node: a value of the program under the node's torch shape.
struct StreamView {
  ValueId id = -1;
  Layout layout;
};

/// A stream whose numbers are those of codes on a line, with scales that streams do not have: they
/// move on through what reads it, up to the next rounding or to the host.
struct Scaled {
  /// An end at which numbers are clamped: number / divisor.
  struct Bound {
    Exact number, divisor = Exact(1.0);
  };
  /// Another stream, values of which times a factor are added before the division.
  struct Term {
    StreamView codes;
    Exact factor;
  };

  StreamView codes;
  /// For values of the stream, codes * 2^-frac: one for all, or one for each of its channels.
  std::vector<ExactLine> lines;
  std::optional<Bound> low = std::nullopt, high = std::nullopt;
  std::optional<Term> other = std::nullopt;  ///< beside one line for all

  /// Whether numbers follow from the codes of one stream alone, in all channels alike.
  bool has_one_line() const { return lines.size() == 1 && !other; }
  /// Whether all numbers are codes times one positive factor.
  bool is_multiple() const {
    return has_one_line() && lines[0].factor.sign() > 0 && lines[0].shift.is_zero() && !low &&
           !high;
  }
};

/// `count` elements along torch dimension `dim` of a stream, every `step`-th from `first` on: part
/// of a chunk or split, which becomes a step where it is used.
struct Part {
  StreamView source;
  std::size_t dim = 0;
  std::int64_t first = 0, count = 0, step = 1;
};

/// A constant tensor of the graph (get_attr), with the format its node puts on it.
struct Parameter {
  std::string path;
  std::optional<formats::Format> format;
  /// The dimensions of the tensor in the order in which they are read; empty: in its own order.
  std::vector<std::size_t> dims = {};
};

/// What a node's result is while lowering; monostate: it was refused, or a number that the batch
/// decides; ir::Value: another number on the host, or a list of such.
using Operand =
    std::variant<std::monostate, StreamView, Scaled, std::vector<Part>, Parameter, ir::Value>;

/// A stream some of whose elements are masks: their code, which no other element has, and the codes
/// of the others.
struct Masked {
  Wide code = 0;
  Interval others;
};

}  // namespace mase::integer
