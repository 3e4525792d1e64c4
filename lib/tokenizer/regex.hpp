// SPDX-License-Identifier: Apache-2.0
// Regular expressions of tokenizers, with the meaning that Oniguruma gives them: groups, sets,
// properties of characters, repetition (greedy, lazy, possessive), looking ahead and behind, (?i),
// anchors.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/code_point_set.hpp"
#include "tokenizer/section.hpp"

namespace mase::tokenizer {

struct RegexNode;

/// The memory of a search, which the next one uses again.
struct RegexMemory {
  struct Frame {
    std::uint32_t instruction, kind;
    std::size_t at, low;
  };
  std::vector<Frame> frames;
  std::vector<std::size_t> marks;
  std::uint64_t steps = 0;
  std::size_t from = 0;  ///< where the search began
};

class Regex {
 public:
  /// Error(Fault::file) with the section's place for what is wrong or not known.
  Regex(std::string_view pattern, const Section& section);

  /// Calls found(begin, end) for all matches in a part of a text, from left to right. The pattern
  /// sees that part only. Error(Fault::config) if the search takes too many steps.
  template <class Found>
  void find_all(std::string_view text, RegexMemory& memory, Found found) const {
    constexpr std::size_t none = SIZE_MAX;
    memory.steps = 0;
    std::size_t from = 0, last_end = none, begin = 0, end = 0;
    while (from <= text.size() && find(text, from, memory, begin, end)) {
      if (begin == end && end == last_end) {  // not right behind another match
        from = following(text, from);
        continue;
      }
      found(begin, end);
      from = last_end = end;
    }
  }

 private:
  enum class Op : std::uint8_t {
    match,
    set,
    repeat_set,
    branch,
    jump,
    split,
    look,
    look_behind,
    ends_at,
    atomic,
    anchor,
    mark,
    check
  };
  struct Instruction {
    Op op;
    bool flag = false;           // look, look_behind: negated; repeat_set: possessive
    std::uint32_t a = 0, b = 0;  // targets, sets, marks
    std::uint32_t least = 0, most = 0;
  };
  /// Which characters a match can begin with.
  struct First {
    std::array<std::uint64_t, 2> ascii{};
    bool others = false, empty = false;
    void join(const First& other);
    bool allows(std::string_view text, std::size_t at) const;
  };
  struct Alternative {
    std::uint32_t target;
    First first;
  };

  static std::size_t following(std::string_view text, std::size_t at);
  bool find(std::string_view text, std::size_t from, RegexMemory& memory, std::size_t& begin,
            std::size_t& end) const;
  bool run(std::string_view text, std::uint32_t instruction, std::size_t at, RegexMemory& memory,
           std::size_t& end) const;
  bool stands_before(std::string_view text, std::uint32_t instruction, std::size_t at,
                     RegexMemory& memory) const;
  bool resume(std::string_view text, RegexMemory& memory, std::size_t base,
              std::uint32_t& instruction, std::size_t& at) const;
  std::size_t repeat(std::string_view text, const Instruction& code, std::size_t at,
                     std::size_t& low) const;
  bool holds(std::string_view text, std::uint32_t anchor, std::size_t at,
             const RegexMemory& memory) const;

  void compile(const RegexNode& node);
  void compile_branch(const RegexNode& node);
  void compile_look_behind(const RegexNode& node);
  void compile_repeat(const RegexNode& node);
  void compile_loop(const RegexNode& node);
  std::uint32_t add(Instruction instruction);
  First first_of(const RegexNode& node) const;

  std::string pattern_;
  std::string where_;
  std::vector<Instruction> program_;
  std::vector<CodePointSet> sets_;
  std::vector<Alternative> alternatives_;
  std::uint32_t marks_ = 0;
  First first_;
};

}  // namespace mase::tokenizer
