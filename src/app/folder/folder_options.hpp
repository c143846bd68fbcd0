// The options that apply only to folders and to several pictures.
#pragma once

#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {

struct FolderOptions {
  bool recursive = false;
  bool follow_links = false;
  std::vector<std::string> match;
  std::vector<std::string> exclude;
  int jobs = 1;
  bool resume = false;
  bool stop_on_error = false;
  std::string list;     // a file; empty: none
  std::string shard;    // "I/N" or "auto"; empty: none
  std::string command;  // the command line, quoted for a shell, without --list and --shard
  std::string given;    // the first of these options on the command line; empty: none
};

void add_folder_options(Arguments& app, FolderOptions& options);

// Sets `given`. Call it after parsing.
void note_folder_options(const Arguments& app, FolderOptions& options);

}  // namespace gpufilter
