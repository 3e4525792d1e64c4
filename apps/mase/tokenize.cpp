// SPDX-License-Identifier: Apache-2.0
// `mase tokenize`.
#include "mase/cli.hpp"

namespace mase::cli {

void add_tokenize(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("tokenize", "make token ids of texts, or texts of ids");
  auto request = std::make_shared<driver::TokenizeRequest>();
  command
      ->add_option("tokenizer", request->tokenizer,
                   "tokenizer.json of Hugging Face, or a folder that has it")
      ->required()
      ->type_name("TOKENIZER");
  command->add_option("text", request->texts, "texts; with --decode, ids separated by spaces")
      ->type_name("TEXT");
  command->add_option("--file", request->file, "further texts, one on each line")
      ->type_name("FILE");
  command->add_flag("--pair", request->pair,
                    "texts are pairs: two arguments, or two parts of a line with a tab between");
  command->add_flag("--decode", request->decode, "make texts of ids, without special tokens");
  command->add_flag("!--no-special", request->special,
                    "add no special tokens; with --decode, show them");
  command->add_flag("--time", request->time, "print how long it took, not the result");
  command->add_flag("--json", request->json,
                    "print ids, tokens, type ids and attention masks as one JSON document");
  command->footer(
      "Examples:\n"
      "  mase tokenize bert/tokenizer.json \"A first text.\" \"Another one.\"\n"
      "  mase tokenize bert --file texts.txt --json\n"
      "  mase tokenize bert --pair \"Who wrote it?\" \"She did.\"\n"
      "  mase tokenize bert --decode \"101 7592 102\"");
  command->callback(
      [request, &action] { action = [request] { return driver::tokenize(*request); }; });
}

}  // namespace mase::cli
