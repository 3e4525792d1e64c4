// SPDX-License-Identifier: Apache-2.0
// The bench of the AXI wrapper with weights that the host's driver loads.
#include <filesystem>

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/run_folder.hpp"
#include "base/text.hpp"
#include "hardware/emit/build.hpp"
#include "hardware/emit/reload_image.hpp"
#include "hardware/emit/simulate.hpp"
#include "hardware/emit/simulate_reload.hpp"
#include "hardware/emit/text/beats.hpp"
#include "hardware/emit/text/names.hpp"

namespace mase::emit {
namespace {

void write_vectors(const std::string& folder, const design::Design& design,
                   const Vectors& vectors) {
  const Names names = names_of(design);
  const auto write = [&](const std::vector<design::StreamId>& ids,
                         const std::vector<integer::Codes>& codes) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      write_file(folder + "/" + names.streams[static_cast<std::size_t>(ids[i])] + ".hex",
                 hex_beats(design.stream(ids[i]), codes[i]));
  };
  write(design.inputs, vectors.inputs);
  write(design.outputs, vectors.outputs);
}

}  // namespace

ReloadSimulation simulate_reload(const std::string& hardware_folder, const design::Design& design,
                                 const Vectors& vectors, double stall, std::uint64_t seed) {
  const std::string folder = std::filesystem::absolute(hardware_folder).string();
  const Build build = build_axi_bench(folder);
  const RunFolder run;
  const std::string image = run.file("weights.bin"), frames = run.make("vectors");
  write_file(image, reload_image(design));
  write_vectors(frames, design, vectors);
  const ProcessResult result =
      run_process({build.program, double_text(stall), std::to_string(seed), image, frames,
                   folder + "/" + weights_file, folder + "/sim/vectors"},
                  {folder + "/rtl", 24 * 3600, {}});
  return {result.status == 0, result.out + result.err};
}

}  // namespace mase::emit
