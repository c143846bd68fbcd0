// The table of faults: tests/faults/faults.txt, which describes its form.
#include "cli/program_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

struct Fault {
  std::string name;
  std::map<std::string, std::string> lines;  // by kind

  [[nodiscard]] std::string line(const std::string& kind) const {
    const auto found = lines.find(kind);
    return found == lines.end() ? "" : found->second;
  }
};

std::vector<Fault> read_faults() {
  std::vector<Fault> faults;
  std::istringstream text(read_file(GPUFILTER_SOURCE "/tests/faults/faults.txt"));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      faults.push_back({line.substr(1, line.size() - 2), {}});
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    faults.back().lines[line.substr(0, colon)] =
        value == std::string::npos ? "" : line.substr(value);
  }
  return faults;
}

// A library of the tests, beside the fake vendor's.
std::string test_library(const std::string& name) {
  return fs::path(GPUFILTER_FAKE_VENDOR).replace_filename("lib" + name + ".so");
}

struct Faults : ProgramTest {
  Faults() {
    const fs::path first = folder_.path() / "first";
    fs::create_directories(first / "in");
    for (const Codec* codec : codecs())
      write_file(first / ("in" + codec->extensions.front()), text_of(encode(*codec, image_).file));
    for (const int number : {1, 2, 3})
      write_png(random_image({31, 40 + number}, format_, number),
                first / "in" / (std::string(1, static_cast<char>('`' + number)) + ".png"));
    write_file(first / "out.png", "old");
    for (const auto& [icd, library] : {std::pair{"faulty", test_library("faulty_vendor")},
                                       std::pair{"fake", std::string(GPUFILTER_FAKE_VENDOR)}}) {
      fs::create_directory(folder_.path() / icd);
      write_file(folder_.path() / icd / "vendor.icd", library + "\n");
    }
    ended(0, filter({(first / "in").string(), folder_ / "good/", "--blur", "auto", "--device",
                     "cpu", "-q"}));
  }

  static std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

  [[nodiscard]] ProcessOptions options_in(const fs::path& folder) const {
    const std::string bin = fs::path(GPUFILTER_PROGRAM).parent_path();
    const auto vendor = [this](const char* icd) {
      return "env OCL_ICD_FILENAMES= FAKE_VENDOR_GPU=1 OCL_ICD_VENDORS=" + (folder_ / icd);
    };
    return with_defaults(
        {.environment = {{"PATH", bin + ":" + std::getenv("PATH")},
                         {"files", "env LD_PRELOAD=" + test_library("faulty_files")},
                         {"vendor", vendor("faulty")},
                         {"fake", vendor("fake")},
                         {"bands", "--max-memory 60K"}},
         .folder = folder});
  }

  // What is wrong with the messages; empty if nothing is.
  static std::string wrong_messages(const std::string& messages, const std::string& wanted) {
    if (wanted == "-") return messages.empty() ? "" : "it says something";
    std::istringstream lines(messages);
    for (std::string line; std::getline(lines, line);) {
      if (!begins(line, "gpufilter: ")) return "another line: " + line;
    }
    return contains(messages, wanted) ? "" : "it does not say '" + wanted + "'";
  }

  // The state of out.png, as the table names it.
  [[nodiscard]] std::string state_of(const fs::path& output) const {
    if (!fs::exists(output)) return "none";
    if (read_file(output) == "old") return "old";
    try {
      return same_pixels(read_picture(output), blurred(image_)) ? "whole" : "wrong";
    } catch (const std::exception&) {
      return "damaged";
    }
  }

  static bool has_temporary_files(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.front() == '.' && contains(name, ".gpufilter-") && !begins(name, ".gpufilter-"))
        return true;
    }
    return false;
  }

  // What is wrong with how the program handles it; empty if nothing is.
  [[nodiscard]] std::string trouble_of(const Fault& fault, int number) const {
    const fs::path folder = folder_.path() / std::to_string(number);
    fs::copy(folder_.path() / "first", folder, fs::copy_options::recursive);
    fs::create_directory_symlink(folder_.path() / "good", folder / "good");
    const ProcessOptions options = options_in(folder);
    if (!fault.line("setup").empty())
      static_cast<void>(run_process({"sh", "-c", fault.line("setup")}, options));
    const ProcessResult result = run_process({"sh", "-c", fault.line("run")}, options);
    const int code = result.exit_code < 0 ? 128 + result.signal : result.exit_code;
    std::string trouble = wrong_messages(result.err, fault.line("says"));
    if (std::to_string(code) != fault.line("exit"))
      trouble += "; exit code " + std::to_string(code);
    const std::string state = state_of(folder / "out.png");
    if (fault.line("out") != "any" && state != fault.line("out"))
      trouble += "; out.png is " + state;
    if (has_temporary_files(folder) != (fault.line("leaves") == "temporary"))
      trouble += "; temporary files";
    if (!fault.line("check").empty()) {
      const ProcessResult check = run_process({"sh", "-c", fault.line("check")}, options);
      if (check.exit_code != 0) trouble += "; the check fails: " + check.err;
    }
    return trouble.empty() ? "" : trouble + "\n" + result.err;
  }

  const ImageSize size_of_input_{67, 145};
  const Image image_ = random_image(size_of_input_, format_, 1);
};

// GPUFILTER_FAULT names one of them.
TEST_F(Faults, AreHandledAsTheTableSays) {
  const char* wanted = std::getenv("GPUFILTER_FAULT");
  const bool has_pocl = fs::exists("/etc/OpenCL/vendors/pocl.icd");
  std::set<std::string> names;
  int number = 0;
  for (const Fault& fault : read_faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name << " appears twice";
    if (wanted != nullptr && fault.name != wanted) continue;
    if (!has_pocl && contains(fault.line("run"), "$vendor")) continue;
    const std::string trouble = trouble_of(fault, number++);
    EXPECT_TRUE(trouble.empty()) << "[" << fault.name << "] " << trouble;
  }
  EXPECT_GT(number, 0);
  EXPECT_GE(names.size(), 80);
}

}  // namespace
}  // namespace gpufilter::test
