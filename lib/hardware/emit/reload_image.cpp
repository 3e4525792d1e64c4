// SPDX-License-Identifier: Apache-2.0
// Images of weights: packed words cut into pieces of 32 bits, and the design that they belong to.
#include "hardware/emit/reload_image.hpp"

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "hardware/design/reload_map.hpp"
#include "hardware/emit/design_json.hpp"
#include "hardware/emit/text/axi.hpp"
#include "hardware/emit/text/names.hpp"
#include "hardware/emit/text/top.hpp"

namespace mase::emit {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t image_magic = 0x4c45'524d, image_version = 1;

std::string bytes_of(const Words& words) {
  std::string bytes;
  for (const std::uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xff);
  return bytes;
}

/// Fowler, Noll, Vo: http://www.isthe.com/chongo/tech/comp/fnv, 32 bits.
std::uint32_t hash_of(const std::string& bytes) {
  std::uint32_t hash = 2166136261u;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  return hash;
}

/// 32 bits of a word in hexadecimal, from its digit `8 * piece` on, the lowest first.
std::uint32_t piece_of(const std::string& word, std::int64_t piece) {
  const std::size_t low = 8 * static_cast<std::size_t>(piece);
  if (low >= word.size()) return 0;
  const std::size_t end = word.size() - low, begin = end > 8 ? end - 8 : 0;
  return static_cast<std::uint32_t>(std::stoul(word.substr(begin, end - begin), nullptr, 16));
}

/// A run for the whole memory, or for every word where words leave places between them.
void add_memory(const design::Memory& memory, Words& words) {
  const std::int64_t pieces = design::reload_pieces(memory), pitch = design::reload_pitch(memory);
  const auto count = static_cast<std::int64_t>(memory.words.size());
  for (std::int64_t word = 0; word < count; ++word) {
    if (word == 0 || pieces != pitch) {
      words.push_back(static_cast<std::uint32_t>(*memory.base + word * pitch));
      words.push_back(static_cast<std::uint32_t>(pieces == pitch ? count * pieces : pieces));
    }
    for (std::int64_t piece = 0; piece < pieces; ++piece)
      words.push_back(piece_of(memory.words[static_cast<std::size_t>(word)], piece));
  }
}

[[noreturn]] void refuse_weights(const std::string& folder, const std::string& what) {
  file_error(folder + ": its weights cannot be replaced by those of this checkpoint: " + what);
}

/// The text of two values of a parameter, or of anything else that JSON has.
std::string both(const Tree* emitted, const Tree* given) {
  const auto text = [](const Tree* tree) { return tree ? to_json(*tree) : "absent"; };
  return text(emitted) + " in the hardware, " + text(given) + " here";
}

void check_instance(const std::string& folder, const Tree& emitted, const Tree& given) {
  const std::string& name = given.at("name").as_string();
  for (const char* key : {"name", "module"})
    if (emitted.at(key) != given.at(key))
      refuse_weights(folder, "the " + std::string(key) + " of instance '" + name + "' is " +
                                 both(&emitted.at(key), &given.at(key)));
  for (const auto& [key, value] : given.at("parameters").as_dict()) {
    const Tree* found = emitted.at("parameters").find(key);
    if (!found || *found != value)
      refuse_weights(folder,
                     "parameter " + key + " of instance '" + name + "' is " + both(found, &value));
  }
}

/// Images of addresses, tables and shifts, which stay.
void check_memory(const std::string& folder, const design::Memory& memory) {
  const std::string path = folder + "/rtl/" + memory.file;
  const bool same = file_exists(path) && read_file(path) == join(memory.words, "\n") + "\n";
  if (!same && !memory.base)
    refuse_weights(folder, "the " + memory.what + " of '" + memory.layer +
                               "' is another one, and stands in a memory that cannot be written");
}

}  // namespace

void check_same_hardware(const std::string& folder, const design::Design& design,
                         const EmitOptions& options) {
  const Names names = names_of(design);
  const std::string path = folder + "/design.json";
  const Tree emitted = parse_json(read_file(path), path);
  const Tree given = parse_json(design_json(design, names, options, {}), path);
  const Tree::List &before = emitted.at("instances").as_list(),
                   &now = given.at("instances").as_list();
  if (before.size() != now.size())
    refuse_weights(folder, "it has " + std::to_string(before.size()) + " instances, not " +
                               std::to_string(now.size()));
  for (std::size_t i = 0; i < now.size(); ++i) check_instance(folder, before[i], now[i]);
  for (const design::Memory& memory : design.memories) check_memory(folder, memory);
  if (read_file(folder + "/rtl/" + names.top + ".sv") != top_text(design, names))
    refuse_weights(folder, "its top module is another one; run mase emit again");
}

std::string reload_image(const design::Design& design) {
  const std::string number = design_number(design, names_of(design));
  Words runs;
  for (const design::Memory& memory : design.memories)
    if (memory.base) add_memory(memory, runs);
  const std::string content = bytes_of(runs);
  const auto id = static_cast<std::uint32_t>(std::stoul(number, nullptr, 16));
  return bytes_of({image_magic, image_version, id, hash_of(content),
                   static_cast<std::uint32_t>(runs.size())}) +
         content;
}

}  // namespace mase::emit
