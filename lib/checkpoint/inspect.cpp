// SPDX-License-Identifier: Apache-2.0
// Inspects model archives: recognises other kinds of files, and checks that an archive is valid.
#include "checkpoint/inspect.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/git_lfs.hpp"
#include "base/text.hpp"
#include "pickle/read_pickle.hpp"

namespace mase::checkpoint {

namespace {

using pickle::Pickle;
using pickle::PickleItem;
using pickle::PickleOf;

constexpr std::string_view extra_folder = "extra/";
constexpr std::string_view our_folder = "extra/mase/";
constexpr std::string_view wanted_file =
    "give a TorchScript file: torch.jit.script(model).save(path) or "
    "torch.jit.trace(model, inputs).save(path)";

constexpr std::string_view weights_alone = "a safetensors file";

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool any_below(const std::vector<std::string>& names, std::string_view folder) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(folder); });
}

/// The kind of a file without a zip header, by its first bytes; empty if unknown.
std::string kind_of(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("\x93NUMPY"sv)) return "a NumPy array";
  if (head.starts_with("\x89HDF\r\n"sv)) return "an HDF5 file";
  if (head.starts_with("\x1f\x8b"sv)) return "a gzip file";
  if (head.size() > 8 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv)
    return std::string(weights_alone);
  if (head.size() > 262 && head.substr(257, 5) == "ustar") return "a tar file";
  const bool text = std::all_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return text ? "a text file" : "";
}

bool leaves_archive(const std::string& name) {
  if (name.starts_with('/') || name.find('\\') != std::string::npos) return true;
  const std::vector<std::string> parts = split(name, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

bool has_code(const std::vector<std::string>& names) {
  return any_below(names, "code/") || contains(names, "constants.pkl");
}

/// Refuses a model saved with torch.save(model), which stores its objects without their code.
void refuse_pickled_module(const ZipReader& archive, const std::vector<std::string>& names) {
  const auto pickle = std::find(names.begin(), names.end(), "data.pkl");
  if (pickle == names.end()) return;
  const std::string_view bytes = archive.read(static_cast<std::size_t>(pickle - names.begin()));
  for (const char* attribute : {"_parameters", "_buffers", "_modules"})
    if (bytes.find(attribute) == std::string_view::npos) return;
  file_error(archive.origin() +
             " holds a whole Python module (torch.save(model, path)), which only its Python code "
             "can read; in that code, save torch.jit.script(model).save(path), or "
             "torch.save(model.state_dict(), path) for --load");
}

/// Refuses an archive without the parts of TorchScript, and names its kind.
[[noreturn]] void refuse_other_archive(const ZipReader& archive,
                                       const std::vector<std::string>& names) {
  const std::string& origin = archive.origin();
  if (contains(names, "models/model.json") || contains(names, "serialized_exported_program.json"))
    file_error(origin + " is a torch.export (.pt2) archive; " + std::string(wanted_file));
  if (!has_code(names)) refuse_pickled_module(archive, names);
  if (contains(names, "data.pkl"))
    file_error(origin +
               " holds pickled values without code and looks like a state_dict of torch.save; "
               "give it with --load and name the model, or save the model as TorchScript");
  file_error(origin + " is a zip archive but not a model; " + std::string(wanted_file));
}

void require_version(const std::vector<std::string>& names, const std::string& origin) {
  if (!contains(names, "version") && !contains(names, ".data/version"))
    file_error(origin + ": the archive's 'version' entry is missing; write the file again");
}

/// Refuses code with `__setstate__`, which TorchScript calls while it loads a file. Any text with
/// the name is refused, regardless of blanks, comments and line breaks around it.
void refuse_load_time_code(const ZipReader& archive, std::size_t index, const std::string& name) {
  const std::string_view code = archive.read(index);
  if (!name.starts_with("code/") || !name.ends_with(".py")) return;
  for (const char* method : {"__setstate__", "__getstate__"})
    if (code.find(method) != std::string::npos)
      unsupported_error(archive.origin() + ": " + name + " defines " + method +
                        ", code that would run while the file is loaded; save the model without "
                        "packed (torch.ao quantized) modules");
}

/// Checks the table that maps places in the code to lines of a user's Python. LibTorch reads it for
/// its messages.
void check_places(const ZipReader& archive, std::size_t index, const std::string& name) {
  if (!name.starts_with("code/") || !name.ends_with(".debug_pkl")) return;
  const std::string origin = archive.origin() + ": " + name;
  const Pickle pickle = read_pickle(archive.read(index), origin, PickleOf::module);
  for (const PickleItem& item : pickle.arena)
    if (item.kind == PickleItem::Kind::storage || item.kind == PickleItem::Kind::object)
      file_error(origin + " holds tensors or objects; save the model again");
}

/// Refuses big-endian numbers. All other machines that write such files declare their byte order.
void require_byte_order(const ZipReader& archive, std::size_t index, const std::string& name) {
  if (name == "byteorder" && archive.read(index) != "little")
    unsupported_error(archive.origin() +
                      " was written on a machine with big-endian numbers; load it in Python and "
                      "save it on one with little-endian numbers");
}

/// Checks every storage and tensor of FOLDER.pkl against the entry FOLDER/KEY, because LibTorch
/// trusts the sizes, strides and offsets in the file. It also reads a storage again wherever it is
/// named.
void check_tensors(const ZipReader& archive, const std::vector<std::string>& names,
                   const std::string& folder) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  const auto pickled = places.find(folder + ".pkl");
  if (pickled == places.end()) return;
  const std::string origin = archive.origin() + ": " + folder + ".pkl";
  const Pickle pickle = read_pickle(archive.read(pickled->second), origin, PickleOf::module);
  std::uint64_t room = 8 * archive.size();
  for (const PickleItem& item : pickle.arena) {
    const bool is_storage = item.kind == PickleItem::Kind::storage;
    if (!is_storage && item.kind != PickleItem::Kind::tensor) continue;
    const auto storage = places.find(folder + "/" + item.text);
    const bool there = storage != places.end();  // may be missing for an empty tensor
    const std::uint64_t size = there ? archive.entries()[storage->second].size : 0;
    check_extent(item, size, origin);
    if (is_storage && size > room)
      file_error(origin + " reads storage '" + item.text + "' too often; save the model again");
    room -= is_storage ? size : 0;
  }
}

/// Whether an entry is one that LibTorch should read. Others are removed: a "model.json" would make
/// LibTorch treat the file as an old version, which is not checked.
bool is_loadable(std::string_view name) {
  constexpr std::string_view single[] = {"version", ".data/version", "byteorder", "data.pkl",
                                         "constants.pkl"};
  if (std::ranges::find(single, name) != std::end(single)) return true;
  if (name.starts_with("code/")) return name.ends_with(".py") || name.ends_with(".debug_pkl");
  return name.starts_with("data/") || name.starts_with("constants/");
}

/// The name in lower case, because LibTorch ignores letter case.
std::string folded(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

void require_zip(std::string_view head, std::uint64_t size, const std::string& origin) {
  if (size == 0) file_error(origin + " is empty; " + std::string(wanted_file));
  if (head.starts_with("PK\x03\x04")) return;
  refuse_lfs_pointer(head, origin);
  if (head.starts_with('\x80'))
    file_error(origin +
               " is a pickle in the format before PyTorch 1.6; load it in Python and save it again "
               "as TorchScript, or as a state_dict with today's torch.save");
  const std::string kind = kind_of(head);
  if (kind == weights_alone)
    file_error(origin + " is " + kind +
               ", which has weights alone; give it with --load and name the "
               "model, or give the folder of transformers that has its config.json");
  file_error(origin + (kind.empty() ? " is not a model" : " is " + kind + ", not a model") + "; " +
             std::string(wanted_file));
}

std::vector<std::string> names_below_root(const ZipReader& archive) {
  const auto& entries = archive.entries();
  if (entries.empty()) file_error(archive.origin() + " is an archive without any entry");
  const std::string root = entries.front().name.substr(0, entries.front().name.find('/') + 1);
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const ZipEntry& entry : entries) {
    const std::string place = archive.origin() + ": entry " + quote(entry.name);
    if (leaves_archive(entry.name)) file_error(place + " has a path that leaves the archive");
    if (root.empty() || !entry.name.starts_with(root))
      file_error(place + " is outside the one root folder of a model archive; " +
                 std::string(wanted_file));
    if (!seen.insert(folded(entry.name)).second)
      file_error(place + " occurs more than once (letter case is ignored)");
    names.push_back(entry.name.substr(root.size()));
  }
  return names;
}

ArchiveKind check_tensor_entries(const ZipReader& archive) {
  const std::vector<std::string> names = names_below_root(archive);
  if (has_code(names) || !contains(names, "data.pkl")) {
    check_entries(archive);
    return ArchiveKind::torchscript;
  }
  require_version(names, archive.origin());
  refuse_pickled_module(archive, names);
  for (std::size_t i = 0; i < names.size(); ++i) archive.read(i);
  return ArchiveKind::state_dict;
}

std::vector<std::string> check_entries(const ZipReader& archive) {
  std::vector<std::string> names = names_below_root(archive);
  if (!has_code(names) || !contains(names, "data.pkl")) refuse_other_archive(archive, names);
  require_version(names, archive.origin());
  for (std::size_t i = 0; i < names.size(); ++i) {
    require_byte_order(archive, i, names[i]);
    refuse_load_time_code(archive, i, names[i]);
    check_places(archive, i, names[i]);
  }
  for (const std::string folder : {"data", "constants"}) check_tensors(archive, names, folder);
  return names;
}

ZipImage loadable_image(const ZipReader& archive) {
  const std::vector<std::string> names = names_below_root(archive);
  ZipImage image;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_loadable(names[i]))
      image.add("model/" + names[i], archive.read(i), archive.entries()[i].crc);
  image.finish();
  return image;
}

std::map<std::string, std::string> extra_files_of(const ZipReader& archive) {
  const std::vector<std::string> names = names_below_root(archive);
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].starts_with(our_folder))
      files.emplace(names[i].substr(extra_folder.size()), archive.read(i));
  return files;
}

}  // namespace mase::checkpoint
