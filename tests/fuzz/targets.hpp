// SPDX-License-Identifier: Apache-2.0
// Fuzz targets: each reads one kind of input that comes from outside. What leaves a target, a
// crash, an exception or an Error that blames the program, is a defect.
#pragma once

#include <string_view>

namespace mase::fuzz {

void archive(std::string_view bytes);   ///< a model file: zip, state_dict, contents
void cifar(std::string_view bytes);     ///< records of the data sets cifar10 and cifar100
void config(std::string_view bytes);    ///< a configuration: settings, pipeline, search table
void contents(std::string_view bytes);  ///< mase/info.json of a checkpoint
void csv(std::string_view bytes);       ///< a table of rows, for the data sets csv and jsc
void design(std::string_view bytes);    ///< design.json and the statistics of Yosys
void exported_program(std::string_view bytes);  ///< the JSON of a .pt2 and its graph
void format(std::string_view bytes);            ///< the text of a number format
void graph(std::string_view bytes);             ///< the text of a graph
void hdf5(std::string_view bytes);              ///< arrays of the data set hdf5
void huggingface(std::string_view bytes);       ///< config.json of a folder of transformers
void idx(std::string_view bytes);               ///< images of the data set mnist
void image(std::string_view bytes);             ///< a PNG or JPEG
void npy(std::string_view bytes);               ///< an array, also as labels
void onnx(std::string_view bytes);              ///< an ONNX model and its graph
void pickle(std::string_view bytes);            ///< data.pkl of a state_dict and of a checkpoint
void safetensors(std::string_view bytes);       ///< named tensors after a JSON header
void texts(std::string_view bytes);             ///< texts with classes, as CSV and as lines of JSON
void tokenizer(std::string_view bytes);         ///< a tokenizer.json, with texts and ids
void toml(std::string_view bytes);              ///< TOML text

}  // namespace mase::fuzz
