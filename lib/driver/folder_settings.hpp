// SPDX-License-Identifier: Apache-2.0
// What the folder of a model says of its rows: how images are prepared, and what output is which
// class.
#pragma once

#include <string>

#include "data/dataset.hpp"
#include "driver/settings.hpp"

namespace mase::driver {

/// Settings of data that the user has not given and that the model's folder has, if it is one of
/// transformers: the tokenizer of texts (text_settings.hpp), or the size and the pixels of images
/// from preprocessor_config.json. The log says so, and a warning names what cannot be said in
/// settings.
void follow_folder(const std::string& model, const SettingSources& sources, Settings& settings);

/// Loads the data set that the settings name, and adds what it has found to them: the length of
/// rows of tokens, and the order of the classes. This is that of the outputs of the model, if it is
/// a folder of transformers that names them all and `classes` is not given; a warning names classes
/// that the folder does not have. Classes of texts are added in any case if they have names, so
/// that checkpoints know them.
data::Dataset load_session_data(const std::string& model, Settings& settings);

}  // namespace mase::driver
