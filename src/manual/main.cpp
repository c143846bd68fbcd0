// generate_manual FRAMES DATE FOLDER: writes manual pages and completions below FOLDER, in the
// folders where a system has them, the public header of stages, and the Python module of stages.
// FRAMES is the folder of the completions' frames, DATE that of the program.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "manual/completions.hpp"
#include "manual/declared.hpp"
#include "manual/pages.hpp"
#include "manual/stage_sources.hpp"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream << text;
  stream.close();
}

void generate(const fs::path& frames, const std::string& date, const fs::path& folder) {
  using namespace gpufilter::manual;
  const auto commands = declared_commands();
  fs::remove_all(folder);
  for (const Page& page : manual_pages(commands, date))
    write(folder / "man1" / page.file, page.text);
  write(folder / "bash" / "gpufilter",
        bash_completion(commands, text_of(frames / "gpufilter.bash.in")));
  write(folder / "zsh" / "_gpufilter", zsh_completion(commands, text_of(frames / "_gpufilter.in")));
  write(folder / "fish" / "gpufilter.fish",
        fish_completion(commands, text_of(frames / "gpufilter.fish.in")));
  write(folder / "stages.hpp", stage_header());
  write(folder / "stages.py", stage_module());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "generate_manual FRAMES DATE FOLDER\n";
    return 2;
  }
  try {
    generate(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "generate_manual: " << error.what() << "\n";
    return 1;
  }
}
