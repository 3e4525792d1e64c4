// SPDX-License-Identifier: Apache-2.0
// `mase report` writes the records of a project as one page.
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/writing_inside.hpp"
#include "driver/commands/commands.hpp"
#include "driver/output.hpp"
#include "driver/pages/project_page.hpp"

namespace mase::driver {
namespace {

namespace fs = std::filesystem;

/// The order of the sections on the page. Tests follow, sorted by name.
constexpr std::array<std::string_view, 4> order{"train", "transform", "emit", "simulate"};

std::size_t place_of(const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(order, name) - order.begin());
}

std::vector<ProjectRecord> read_records(const std::string& folder) {
  std::vector<ProjectRecord> records;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/records", error)) {
    if (entry.path().extension() != ".json") continue;
    const std::string path = entry.path().string();
    Tree content = parse_json(read_file(path), path);
    if (!content.is_dict()) file_error(path + " is not the record of a command");
    records.push_back({entry.path().stem().string(), std::move(content)});
  }
  std::ranges::sort(records, {}, [](const ProjectRecord& record) {
    return std::pair(place_of(record.name), record.name);
  });
  return records;
}

/// Links to the pages that other commands have written.
std::vector<std::pair<std::string, std::string>> links_in(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> links;
  if (file_exists(folder + "/software/search/report.html"))
    links.emplace_back("The search of this project", "software/search/report.html");
  return links;
}

std::vector<std::string> files_of(const std::vector<ProjectRecord>& records,
                                  const std::string& folder) {
  std::vector<std::string> files;
  for (const ProjectRecord& record : records) files.push_back(record_path(folder, record.name));
  return files;
}

}  // namespace

int report(const ReportRequest& request) {
  std::string folder = request.project;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (!fs::is_directory(folder))
    file_error(folder + ": no such folder; give the folder of a project, such as mase_output/NAME");
  keep_writes_inside(folder);
  const std::vector<ProjectRecord> records = read_records(folder);
  const auto links = links_in(folder);
  if (records.empty() && links.empty())
    file_error(folder +
               ": no command has recorded results here; run mase train, transform, emit, " +
               "simulate or test with this project first");
  const std::string path = request.output.value_or(folder + "/report.html");
  if (!request.overwrite) keep_inputs({path}, files_of(records, folder));
  write_file(path, project_page(fs::path(folder).filename().string(), records, links));
  Output output(request.json);
  output.text("report: " + path);
  output.document()["report"] = path;
  output.document()["records"] = Tree::list();
  for (const ProjectRecord& record : records) output.document()["records"].push_back(record.name);
  output.finish();
  return 0;
}

}  // namespace mase::driver
