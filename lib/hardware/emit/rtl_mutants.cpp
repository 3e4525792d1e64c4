// SPDX-License-Identifier: Apache-2.0
// Where SystemVerilog can be mistaken: pairs of operators and constants, outside of comments.
#include "hardware/emit/rtl_mutants.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

namespace mase::emit {
namespace {

namespace fs = std::filesystem;

struct Mistake {
  std::string_view from, to;
};

/// Between spaces where a shorter operator is part of a longer one.
constexpr auto mistakes = std::to_array<Mistake>({
    {"&&", "||"},           {"||", "&&"},       {" == ", " != "},   {" != ", " == "},
    {" < ", " <= "},        {" > ", " >= "},    {" >= ", " > "},    {" + ", " - "},
    {" - ", " + "},         {" - 1]", " - 2]"}, {" <<< ", " >>> "}, {" >>> ", " <<< "},
    {"1'b0", "1'b1"},       {"1'b1", "1'b0"},   {" & ", " | "},     {" | ", " & "},
    {"if (!", "if ("},      {"= !", "= "},      {"&& !", "&& "},    {"|| !", "|| "},
    {" ? 1 : ", " ? 2 : "},
});

/// The bench runs the top and what it is made of, not the wrapper.
bool is_run(const std::string& name, const std::string& filelist) {
  return name.ends_with(".sv") && filelist.find("rtl/" + name + "\n") != std::string::npos;
}

/// Where a line's comment begins, or its end.
std::size_t code_end(const std::string& text, std::size_t begin, std::size_t end) {
  return std::min(text.find("//", begin), end);
}

}  // namespace

RtlMutants::RtlMutants(const std::string& hardware_folder) : folder_(run_.file("hardware")) {
  const std::string filelist = read_file(hardware_folder + "/filelist.f") + "\n";
  make_folder(folder_);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(hardware_folder)) {
    const fs::path path = fs::relative(entry.path(), hardware_folder);
    if (!entry.is_regular_file() || path.string().starts_with("sim/obj")) continue;
    make_folder((fs::path(folder_) / path).parent_path().string());
    fs::copy_file(entry.path(), fs::path(folder_) / path);
    if (is_run(path.filename().string(), filelist) && path.parent_path() == "rtl")
      files_.push_back({path.filename().string(), read_file(entry.path().string())});
  }
  std::ranges::sort(files_, {}, &File::name);
  for (std::size_t file = 0; file < files_.size(); ++file) find_places(file);
}

void RtlMutants::find_places(std::size_t file) {
  const std::string& text = files_[file].text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t code = code_end(text, begin, end);
    for (const Mistake& mistake : mistakes)
      for (std::size_t at = text.find(mistake.from, begin); at < code;
           at = text.find(mistake.from, at + 1))
        places_.push_back({file, at, mistake.from, mistake.to});
    begin = end + 1;
  }
}

void RtlMutants::write(std::size_t file, const std::string& text) const {
  write_file(folder_ + "/rtl/" + files_[file].name, text);
}

RtlMutant RtlMutants::draw(Random& random) {
  MASE_CHECK(!none(), "RTL without operators");
  const Place& place = places_[random.below(places_.size())];
  write(changed_, files_[changed_].text);
  changed_ = place.file;
  const std::string& text = files_[place.file].text;
  std::string changed = text;
  changed.replace(place.at, place.from.size(), place.to);
  write(place.file, changed);
  const std::size_t begin = text.rfind('\n', place.at) + 1;
  const auto line = [&](const std::string& whole) {
    return std::string(trim(whole.substr(begin, whole.find('\n', begin) - begin)));
  };
  return {files_[place.file].name,
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place.at), '\n'),
          line(text), line(changed)};
}

}  // namespace mase::emit
