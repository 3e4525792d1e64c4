// SPDX-License-Identifier: Apache-2.0
// Compiles a regular expression to instructions and runs them with backtracking.
#include "tokenizer/regex.hpp"

#include <algorithm>

#include "tokenizer/code_points.hpp"
#include "tokenizer/regex_parser.hpp"

namespace mase::tokenizer {
namespace {

constexpr std::size_t most_instructions = 50000;
constexpr std::uint64_t steps_for_a_byte = 256, further_steps = std::uint64_t{1} << 24;

// What a frame means when the search comes back to it.
constexpr std::uint32_t go_on = 0, shorten = 1, restore_mark = 2;

bool is_word_code(char32_t code) {
  if (code < 0x80) return is_identifier_char(static_cast<char>(code));
  return has(code, pattern_word);
}

bool is_word_edge(std::string_view text, std::size_t at) {
  const bool before = at > 0 && is_word_code(code_point_before(text, at));
  std::size_t next = at;
  const bool after = at < text.size() && is_word_code(next_code_point(text, next));
  return before != after;
}

/// The least and the most characters that a part of a pattern can take.
struct Width {
  std::uint64_t least = 0, most = 0;
};

std::uint64_t product(std::uint64_t count, std::uint64_t times) {
  return count == 0 || times == 0 ? 0 : std::min<std::uint64_t>(count * times, without_limit);
}

Width width_of(const RegexNode& node) {
  if (node.kind == RegexKind::set) return {1, 1};
  if (node.kind == RegexKind::look_ahead || node.kind == RegexKind::look_behind) return {};
  Width width;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Width child = width_of(node.children[i]);
    if (node.kind == RegexKind::branch) {
      width.least = i == 0 ? child.least : std::min(width.least, child.least);
      width.most = std::max(width.most, child.most);
    } else {
      width.least = std::min<std::uint64_t>(width.least + child.least, without_limit);
      width.most = std::min<std::uint64_t>(width.most + child.most, without_limit);
    }
  }
  if (node.kind != RegexKind::repeat) return width;
  return {product(width.least, node.least), product(width.most, node.most)};
}

}  // namespace

void Regex::First::join(const First& other) {
  ascii[0] |= other.ascii[0];
  ascii[1] |= other.ascii[1];
  others |= other.others;
  empty |= other.empty;
}

bool Regex::First::allows(std::string_view text, std::size_t at) const {
  if (empty) return true;
  if (at == text.size()) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  return byte < 128 ? (ascii[byte >> 6] >> (byte & 63) & 1) != 0 : others;
}

Regex::Regex(std::string_view pattern, const Section& section)
    : pattern_(pattern), where_(section.where()) {
  const RegexNode tree = parse_regex(pattern, section);
  compile(tree);
  add({Op::match});
  first_ = first_of(tree);
}

std::uint32_t Regex::add(Instruction instruction) {
  if (program_.size() >= most_instructions)
    file_error(where_ + ": the pattern " + quote(pattern_) + " is too large");
  program_.push_back(instruction);
  return static_cast<std::uint32_t>(program_.size() - 1);
}

Regex::First Regex::first_of(const RegexNode& node) const {
  First first;
  first.empty = true;
  switch (node.kind) {
    case RegexKind::set:
      return {node.set.ascii(), true, false};
    case RegexKind::sequence:
    case RegexKind::atomic:
      for (const RegexNode& child : node.children) {
        const First next = first_of(child);
        first.join(next);
        first.empty = next.empty;
        if (!next.empty) break;
      }
      return first;
    case RegexKind::branch:
      first.empty = false;
      for (const RegexNode& child : node.children) first.join(first_of(child));
      return first;
    case RegexKind::repeat:
      first = first_of(node.children.front());
      first.empty |= node.least == 0;
      return first;
    default:
      return first;
  }
}

void Regex::compile(const RegexNode& node) {
  switch (node.kind) {
    case RegexKind::sequence:
      for (const RegexNode& child : node.children) compile(child);
      return;
    case RegexKind::branch:
      return compile_branch(node);
    case RegexKind::set:
      sets_.push_back(node.set);
      add({Op::set, false, static_cast<std::uint32_t>(sets_.size() - 1)});
      return;
    case RegexKind::repeat:
      return compile_repeat(node);
    case RegexKind::look_behind:
      return compile_look_behind(node);
    case RegexKind::look_ahead:
    case RegexKind::atomic: {
      const Op op = node.kind == RegexKind::atomic ? Op::atomic : Op::look;
      const std::uint32_t start = add({op, node.negated});
      for (const RegexNode& child : node.children) compile(child);
      add({Op::match});
      program_[start].a = static_cast<std::uint32_t>(program_.size());
      return;
    }
    case RegexKind::anchor:
      add({Op::anchor, false, static_cast<std::uint32_t>(node.anchor)});
      return;
  }
}

void Regex::compile_branch(const RegexNode& node) {
  const auto base = static_cast<std::uint32_t>(alternatives_.size());
  const auto count = static_cast<std::uint32_t>(node.children.size());
  add({Op::branch, false, base, base + count});
  for (const RegexNode& child : node.children) alternatives_.push_back({0, first_of(child)});
  std::vector<std::uint32_t> jumps;
  for (std::uint32_t i = 0; i < count; ++i) {
    alternatives_[base + i].target = static_cast<std::uint32_t>(program_.size());
    compile(node.children[i]);
    jumps.push_back(add({Op::jump}));
  }
  for (const std::uint32_t jump : jumps)
    program_[jump].a = static_cast<std::uint32_t>(program_.size());
}

/// What stands behind is matched from an earlier place on, and must end at this one.
void Regex::compile_look_behind(const RegexNode& node) {
  const Width width = width_of(node.children.front());
  const std::uint32_t place = marks_++;
  const std::uint32_t start =
      add({Op::look_behind, node.negated, 0, place, static_cast<std::uint32_t>(width.least),
           static_cast<std::uint32_t>(width.most)});
  compile(node.children.front());
  add({Op::ends_at, false, place});
  add({Op::match});
  program_[start].a = static_cast<std::uint32_t>(program_.size());
}

void Regex::compile_repeat(const RegexNode& node) {
  const RegexNode& body = node.children.front();
  if (body.kind == RegexKind::set && node.repeat != RegexRepeat::lazy) {
    sets_.push_back(body.set);
    add({Op::repeat_set, node.repeat == RegexRepeat::possessive,
         static_cast<std::uint32_t>(sets_.size() - 1), 0, node.least, node.most});
    return;
  }
  if (node.repeat != RegexRepeat::possessive) return compile_loop(node);
  const std::uint32_t start = add({Op::atomic});
  compile_loop(node);
  add({Op::match});
  program_[start].a = static_cast<std::uint32_t>(program_.size());
}

void Regex::compile_loop(const RegexNode& node) {
  const RegexNode& body = node.children.front();
  const bool lazy = node.repeat == RegexRepeat::lazy;
  const auto here = [&] { return static_cast<std::uint32_t>(program_.size()); };
  const auto aim = [&](std::uint32_t split, std::uint32_t inside, std::uint32_t outside) {
    program_[split].a = lazy ? outside : inside;
    program_[split].b = lazy ? inside : outside;
  };
  for (std::uint32_t i = 0; i < node.least; ++i) compile(body);
  if (node.most == without_limit) {
    const std::uint32_t mark = marks_++, split = add({Op::split});
    const std::uint32_t inside = add({Op::mark, false, mark});
    compile(body);
    add({Op::check, false, mark});
    add({Op::jump, false, split});
    return aim(split, inside, here());
  }
  std::vector<std::uint32_t> splits;
  for (std::uint32_t i = node.least; i < node.most; ++i) {
    splits.push_back(add({Op::split}));
    compile(body);
  }
  for (const std::uint32_t split : splits) aim(split, split + 1, here());
}

std::size_t Regex::following(std::string_view text, std::size_t at) {
  if (at < text.size())
    next_code_point(text, at);
  else
    ++at;
  return at;
}

bool Regex::find(std::string_view text, std::size_t from, RegexMemory& memory, std::size_t& begin,
                 std::size_t& end) const {
  memory.marks.resize(marks_);
  memory.from = from;
  for (std::size_t at = from; at <= text.size(); at = following(text, at)) {
    if (!first_.allows(text, at)) continue;
    memory.frames.clear();
    begin = at;
    if (run(text, 0, at, memory, end)) return true;
  }
  return false;
}

/// The end of the longest run of a set, and the end of the shortest; `at` - 1 if that is too short.
std::size_t Regex::repeat(std::string_view text, const Instruction& code, std::size_t at,
                          std::size_t& low) const {
  const CodePointSet& set = sets_[code.a];
  low = code.least == 0 ? at : SIZE_MAX;
  for (std::uint32_t count = 0; count < code.most && at < text.size();) {
    std::size_t next = at;
    if (!set.has(next_code_point(text, next))) break;
    at = next;
    if (++count == code.least) low = at;
  }
  return at;
}

bool Regex::holds(std::string_view text, std::uint32_t anchor, std::size_t at,
                  const RegexMemory& memory) const {
  const bool at_end = at == text.size();
  switch (static_cast<RegexAnchor>(anchor)) {
    case RegexAnchor::line_start:
      return at == 0 || (text[at - 1] == '\n' && !at_end);
    case RegexAnchor::line_end:
      return at_end || text[at] == '\n';
    case RegexAnchor::text_start:
      return at == 0;
    case RegexAnchor::text_end:
      return at_end;
    case RegexAnchor::last_line_end:
      return at_end || (text[at] == '\n' && at + 1 == text.size());
    case RegexAnchor::word_edge:
      return is_word_edge(text, at);
    case RegexAnchor::no_word_edge:
      return !is_word_edge(text, at);
    case RegexAnchor::search_start:
      return at == memory.from;
  }
  return false;
}

/// Whether a text that the pattern after `instruction` matches ends at `at`.
bool Regex::stands_before(std::string_view text, std::uint32_t instruction, std::size_t at,
                          RegexMemory& memory) const {
  const Instruction& code = program_[instruction];
  memory.marks[code.b] = at;
  std::size_t begin = at, end = 0;
  for (std::uint32_t count = 0;; ++count) {
    if (count >= code.least && run(text, instruction + 1, begin, memory, end)) return true;
    if (count == code.most || begin == 0) return false;
    begin = previous_start(text, begin);
  }
}

/// Goes back to the last choice above `base`; false if there is none.
bool Regex::resume(std::string_view text, RegexMemory& memory, std::size_t base,
                   std::uint32_t& instruction, std::size_t& at) const {
  while (memory.frames.size() > base) {
    RegexMemory::Frame& frame = memory.frames.back();
    if (frame.kind == restore_mark) {
      memory.marks[frame.instruction] = frame.at;
      memory.frames.pop_back();
      continue;
    }
    instruction = frame.instruction;
    if (frame.kind == shorten) frame.at = previous_start(text, frame.at);
    at = frame.at;
    if (frame.kind == go_on || frame.at <= frame.low) memory.frames.pop_back();
    return true;
  }
  return false;
}

bool Regex::run(std::string_view text, std::uint32_t instruction, std::size_t at,
                RegexMemory& memory, std::size_t& end) const {
  const std::size_t base = memory.frames.size();
  const std::uint64_t most_steps = further_steps + steps_for_a_byte * text.size();
  const auto push = [&](std::uint32_t to, std::uint32_t kind, std::size_t place, std::size_t low) {
    memory.frames.push_back({to, kind, place, low});
  };
  for (;;) {
    if (++memory.steps > most_steps)
      config_error(where_ + ": the pattern " + quote(pattern_) +
                   " takes too many steps for a text; split the text");
    const Instruction& code = program_[instruction];
    bool fits = true;
    switch (code.op) {
      case Op::match:
        end = at;
        memory.frames.resize(base);
        return true;
      case Op::set:
        fits = at < text.size() && sets_[code.a].has(next_code_point(text, at));
        ++instruction;
        break;
      case Op::repeat_set: {
        std::size_t low = 0;
        const std::size_t longest = repeat(text, code, at, low);
        fits = low <= longest;
        ++instruction;
        if (fits && !code.flag && low < longest) push(instruction, shorten, longest, low);
        at = longest;
        break;
      }
      case Op::branch: {
        std::uint32_t chosen = code.b;
        for (std::uint32_t i = code.b; i-- > code.a;)
          if (alternatives_[i].first.allows(text, at)) {
            if (chosen != code.b) push(alternatives_[chosen].target, go_on, at, 0);
            chosen = i;
          }
        fits = chosen != code.b;
        if (fits) instruction = alternatives_[chosen].target;
        break;
      }
      case Op::jump:
        instruction = code.a;
        break;
      case Op::split:
        push(code.b, go_on, at, 0);
        instruction = code.a;
        break;
      case Op::look:
      case Op::atomic: {
        std::size_t inner = 0;
        fits = run(text, instruction + 1, at, memory, inner) != code.flag;
        if (code.op == Op::atomic) at = inner;
        instruction = code.a;
        break;
      }
      case Op::look_behind:
        fits = stands_before(text, instruction, at, memory) != code.flag;
        instruction = code.a;
        break;
      case Op::ends_at:
        fits = memory.marks[code.a] == at;
        ++instruction;
        break;
      case Op::anchor:
        fits = holds(text, code.a, at, memory);
        ++instruction;
        break;
      case Op::mark:
        push(code.a, restore_mark, memory.marks[code.a], 0);
        memory.marks[code.a] = at;
        ++instruction;
        break;
      case Op::check:
        fits = memory.marks[code.a] != at;
        ++instruction;
        break;
    }
    if (!fits && !resume(text, memory, base, instruction, at)) return false;
  }
}

}  // namespace mase::tokenizer
