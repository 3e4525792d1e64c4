// SPDX-License-Identifier: Apache-2.0
// Makes frames for a simulation from each of the possible sources.
#include "driver/frames.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/random.hpp"
#include "driver/loading/text_input.hpp"
#include "hardware/emit/vectors.hpp"
#include "hardware/integer/interpreter.hpp"

namespace mase::driver {
namespace {

using integer::Codes;
using integer::Program;

/// Encodes one array per input; all arrays have the same number of rows.
emit::Vectors encode(const Program& program, const std::vector<Array>& arrays) {
  emit::Vectors vectors;
  vectors.frames = arrays.front().shape().empty() ? 0 : arrays.front().shape().front();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    Shape wanted = program.value(program.inputs[i]).torch_shape;
    wanted.insert(wanted.begin(), vectors.frames);
    if (arrays[i].shape() != wanted)
      file_error(
          "input '" + program.value(program.inputs[i]).name + "' has the shape " +
          shape_text(arrays[i].shape()) + ", but the hardware takes " + shape_text(wanted) +
          "; for inputs of this size, run mase transform with --input-shape, and then mase emit");
    vectors.inputs.push_back(integer::encode_input(program, i, arrays[i]));
  }
  return vectors;
}

emit::Vectors from_files(const Program& program, const SimulateRequest& request) {
  if (request.inputs.size() != program.inputs.size())
    config_error("the hardware has " + std::to_string(program.inputs.size()) + " inputs, but " +
                 std::to_string(request.inputs.size()) + " files were given");
  std::vector<Array> arrays;
  for (const std::string& path : request.inputs) {
    Array array = read_npy(path);
    const auto rows = array.shape().empty() ? 0 : array.shape().front();
    arrays.push_back(request.rows && *request.rows < rows ? array.rows(0, *request.rows) : array);
  }
  return encode(program, arrays);
}

emit::Vectors from_rows(const Program& program, data::Dataset& dataset,
                        const std::vector<std::int64_t>& rows, const SimulateRequest& request) {
  std::vector<std::string> names;
  for (const integer::ValueId id : program.inputs) names.push_back(program.value(id).name);
  dataset.follow(names);
  if (program.inputs.size() != dataset.inputs.size())
    config_error("the hardware has " + std::to_string(program.inputs.size()) +
                 " inputs, but a row of the data set has " + std::to_string(dataset.inputs.size()) +
                 "; give one .npy file per input with --input, or use --random");
  const auto all = static_cast<std::int64_t>(rows.size());
  const std::int64_t count = std::min(all, request.rows.value_or(all));
  return encode(program, dataset.batch(rows, 0, count).inputs);
}

emit::Vectors from_texts(const Program& program, const SimulateRequest& request,
                         const data::DataOptions& options) {
  ModelInput input;
  input.texts = request.texts;
  take_text_options(options, input);
  const Shape& tokens = program.value(program.inputs.front()).torch_shape;
  if (tokens.size() != 1) config_error("--text: the hardware takes no rows of tokens");
  input.max_token_len = static_cast<int>(tokens.front());
  data::Dataset dataset = text_rows("the hardware", input);
  return from_rows(program, dataset, dataset.train, request);
}

/// One code of a random frame. Frames 0 to 3 are the edge cases.
std::int64_t random_code(const integer::StreamValue& value, std::int64_t frame,
                         std::int64_t element, Random& random) {
  const std::int64_t low = value.least_code(), high = value.greatest_code();
  if (frame == 0) return low;
  if (frame == 1) return high;
  if (frame == 2) return element % 2 == 0 ? low : high;
  if (frame == 3) return 0;
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low) + 1));
}

emit::Vectors at_random(const Program& program, std::int64_t frames, std::uint64_t seed) {
  emit::Vectors vectors;
  vectors.frames = frames;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const integer::StreamValue& value = program.value(program.inputs[i]);
    Random random(seed, i);
    Codes codes;
    codes.reserve(static_cast<std::size_t>(frames * value.elements()));
    for (std::int64_t f = 0; f < frames; ++f)
      for (std::int64_t e = 0; e < value.elements(); ++e)
        codes.push_back(random_code(value, f, e, random));
    vectors.inputs.push_back(std::move(codes));
  }
  return vectors;
}

}  // namespace

emit::Vectors make_frames(const Program& program, data::Dataset* dataset,
                          const SimulateRequest& request, const data::DataOptions& options,
                          std::uint64_t seed) {
  emit::Vectors vectors;
  if (!request.inputs.empty())
    vectors = from_files(program, request);
  else if (!request.texts.empty())
    vectors = from_texts(program, request, options);
  else if (request.random)
    vectors = at_random(program, *request.random, seed);
  else if (dataset != nullptr)
    vectors = from_rows(program, *dataset, dataset->rows(data::parse_part(request.split)), request);
  else
    return emit::example_vectors(program);
  if (vectors.frames < 1) config_error("there are no frames to simulate: the input has no rows");
  vectors.outputs = integer::Interpreter(program).run(vectors.inputs, vectors.frames);
  return vectors;
}

}  // namespace mase::driver
