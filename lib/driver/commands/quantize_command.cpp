// SPDX-License-Identifier: Apache-2.0
// `mase quantize` applies a number format to an array, without a model.
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "config/toml.hpp"
#include "driver/commands/commands.hpp"
#include "driver/encoded_files.hpp"
#include "driver/output.hpp"
#include "formats/format.hpp"

namespace mase::driver {
namespace {

/// Reads "width=8" as TOML, where a bare word is a string.
void add_setting(const std::string& text, Tree& fields) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    config_error("--set " + text + ": give KEY=VALUE, for example --set width=8");
  const std::string key(trim(text.substr(0, equals))), value(trim(text.substr(equals + 1)));
  const std::string origin = "--set " + key;
  Tree parsed;
  try {
    parsed = config::parse_toml("value = " + value, origin);
  } catch (const Error&) {
    parsed = config::parse_toml("value = " + quote(value), origin);
  }
  Tree entry = parsed.at("value");
  entry.where = entry.key_where = {origin, 0, 0};
  fields[key] = std::move(entry);
}

formats::Format read_format(const QuantizeRequest& request) {
  if (request.format.find('(') != std::string::npos) {
    if (!request.set.empty() || !request.profile.empty())
      config_error("--format " + request.format +
                   " is complete: leave out --set and --profile, or give only the name");
    return formats::parse_format(request.format);
  }
  const formats::FormatRow* row = formats::find_format(request.format);
  if (!row)
    config_error("unknown format '" + request.format + "'" +
                 did_you_mean(request.format, formats::format_names(),
                              "; formats: " + join(formats::format_names(), ", ")));
  Tree fields = Tree::dict();
  for (const std::string& setting : request.set) add_setting(setting, fields);
  if (!request.profile.empty()) fields["profile"] = request.profile;
  Diagnostics diagnostics;
  auto format = row->make(fields, diagnostics);
  diagnostics.throw_if_errors();
  MASE_CHECK(format, "a format without diagnostics");
  return *format;
}

/// Encodes the array. The message about an element without a code names its file.
std::vector<EncodedFile> encode(const formats::Format& format, const Array& input,
                                const QuantizeRequest& request) {
  try {
    return encoded_files(format, input, *request.codes);
  } catch (const Error& error) {
    throw Error(error.fault(), request.input + ": " + error.what());
  }
}

/// The number of values that float32 cannot represent. NaN counts as representable.
template <class T>
std::int64_t count_rounded(const Array& exact, const Array& rounded) {
  std::int64_t count = 0;
  const auto values = exact.span<T>();
  const auto floats = rounded.span<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    count += values[i] == values[i] && static_cast<long double>(values[i]) != floats[i] ? 1 : 0;
  return count;
}

std::int64_t count_rounded(const Array& exact, const Array& rounded) {
  switch (exact.dtype()) {
    case DType::float64:
      return count_rounded<double>(exact, rounded);
    case DType::int64:
      return count_rounded<std::int64_t>(exact, rounded);
    case DType::int32:
      return count_rounded<std::int32_t>(exact, rounded);
    case DType::uint32:
      return count_rounded<std::uint32_t>(exact, rounded);
    default:
      return 0;
  }
}

/// Reads the array as float32, on which the formats are defined, and tells how much that rounds.
Array read_float32(const std::string& path, Output& out) {
  const Array array = read_npy(path);
  Array floats = array.to_float32();
  const std::string dtype(dtype_name(array.dtype()));
  const std::int64_t rounded = count_rounded(array, floats);
  if (array.dtype() != DType::float32)
    out.text(path + ": " + dtype + ", read as float32; this rounds " + std::to_string(rounded) +
             " of " + std::to_string(array.size()) + " values");
  out.document()["input_dtype"] = dtype;
  out.document()["input_rounded"] = rounded;
  return floats;
}

/// Checks the names of all outputs before the first one is written.
void check_outputs(const QuantizeRequest& request, const std::vector<EncodedFile>& encoded) {
  std::vector<std::string> outputs = {request.output};
  for (const EncodedFile& array : encoded) outputs.push_back(array.path);
  for (std::size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i] == request.output || same_file(outputs[i], request.output))
      config_error("'" + outputs[i] + "' cannot hold both the values and the " +
                   encoded[i - 1].key + "; name another file for one of them");
  if (!request.overwrite) keep_inputs(outputs, {request.input});
}

}  // namespace

int quantize(const QuantizeRequest& request) {
  const formats::Format format = read_format(request);
  Output out(request.json);
  const Array input = read_float32(request.input, out);
  Array output(DType::float32, input.shape());
  format.quantize(input.span<float>(), output.mutable_span<float>(), input.shape());
  // Encoding comes first, so that no file is written if a value has no code.
  std::vector<EncodedFile> encoded;
  if (request.codes) encoded = encode(format, input, request);
  check_outputs(request, encoded);
  write_npy(request.output, output);
  for (const EncodedFile& array : encoded) write_npy(array.path, array.value);
  out.text(format.short_text() + ": " + shape_text(input.shape()) + ", " +
           double_text(format.bits_per_element(input.shape())) + " bits per element → " +
           request.output);
  Tree& document = out.document();
  document["format"] = format.text();
  document["fields"] = format.fields();
  document["bits_per_element"] = format.bits_per_element(input.shape());
  document["output"] = request.output;
  for (const EncodedFile& array : encoded) document[array.key] = array.path;
  out.finish();
  return 0;
}

}  // namespace mase::driver
