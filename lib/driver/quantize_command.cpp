// SPDX-License-Identifier: Apache-2.0
// `mase quantize`: a number format on an array, without a model.
#include <filesystem>

#include "base/text.hpp"
#include "config/toml.hpp"
#include "driver/commands.hpp"
#include "driver/output.hpp"
#include "formats/format.hpp"

namespace mase::driver {
namespace {

/// "width=8" as TOML; a bare word is taken as a string.
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
                   " says everything: leave out --set and --profile, or give the name only");
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

/// Codes in the smallest unsigned type that holds one.
Array codes_array(const formats::PackedCodes& packed, const Shape& shape) {
  const std::vector<std::uint32_t> codes = packed.unpack();
  const auto convert = [&]<class T>(T) {
    return Array::from(std::vector<T>(codes.begin(), codes.end()), shape);
  };
  if (packed.bits() <= 8) return convert(std::uint8_t{});
  if (packed.bits() <= 16) return convert(std::uint16_t{});
  return convert(std::uint32_t{});
}

/// Shared codes and scales stand beside the codes: c.npy, c.shared.npy, c.scales.npy.
std::string beside(const std::string& codes, const char* what) {
  std::filesystem::path path(codes);
  return path.replace_extension(std::string(".") + what + ".npy").string();
}

/// A list of `count` numbers as a shape.
Shape line(std::size_t count) { return {static_cast<std::int64_t>(count)}; }

struct NamedArray {
  std::string key, path;
  Array value;
};

/// The encoded input as arrays; an element without a code is named with the file it is in.
std::vector<NamedArray> encoded_arrays(const formats::Format& format, const Array& input,
                                       const QuantizeRequest& request) {
  try {
    const formats::Encoded encoded = format.encode(input.span<float>(), input.shape());
    std::vector<NamedArray> arrays{
        {"codes", *request.codes, codes_array(encoded.codes, input.shape())}};
    if (!encoded.shared.empty())
      arrays.push_back({"shared", beside(*request.codes, "shared"),
                        codes_array(encoded.shared, line(encoded.shared.size()))});
    if (!encoded.scales.empty())
      arrays.push_back({"scales", beside(*request.codes, "scales"),
                        Array::from(encoded.scales, line(encoded.scales.size()))});
    return arrays;
  } catch (const Error& error) {
    throw Error(error.fault(), request.input + ": " + error.what());
  }
}

}  // namespace

int quantize(const QuantizeRequest& request) {
  const formats::Format format = read_format(request);
  const Array input = read_npy(request.input);
  if (input.dtype() != DType::float32)
    file_error(request.input + ": holds " + std::string(dtype_name(input.dtype())) +
               "; quantize takes float32");
  Array output(DType::float32, input.shape());
  format.quantize(input.span<float>(), output.mutable_span<float>(), input.shape());
  // Codes first: when a value has none, no file is written.
  std::vector<NamedArray> encoded;
  if (request.codes) encoded = encoded_arrays(format, input, request);
  write_npy(request.output, output);
  for (const NamedArray& array : encoded) write_npy(array.path, array.value);
  Output out(request.json);
  out.text(format.text() + ": " + shape_text(input.shape()) + ", " +
           double_text(format.bits_per_element(input.shape())) + " bits per element → " +
           request.output);
  Tree& document = out.document();
  document["format"] = format.text();
  document["fields"] = format.fields();
  document["bits_per_element"] = format.bits_per_element(input.shape());
  document["output"] = request.output;
  for (const NamedArray& array : encoded) document[array.key] = array.path;
  out.finish();
  return 0;
}

}  // namespace mase::driver
