// Every command in README.md and docs/ is run as printed there, on a machine without a GPU: those
// of a page from top to bottom in one folder, as a reader would.

#include "codec/codec_table.hpp"
#include "support/documents.hpp"
#include "support/process.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

struct NotRun {
  std::string_view begin;  // of the command
  std::string_view reason;
};

// Commands that no test can run. All other commands in the pages are run.
constexpr std::array commands_not_run{
    NotRun{"git clone", "fetches the project"},
    NotRun{"scripts/install.sh", "builds the project and installs it"},
    NotRun{"cmake --preset", "builds the project"},
    NotRun{"cmake -S", "builds the project"},
    NotRun{"cmake --build build/release &&", "builds the project and installs it for everyone"},
    NotRun{"DEB_BUILD_OPTIONS", "builds the project's packages"},
    NotRun{"sudo apt-get", "takes root and the network"},
    NotRun{"clinfo", "belongs to a package that need not be installed"},
    NotRun{"mkdir -p /etc/OpenCL", "takes root, and changes the system"},
    NotRun{"gpufilter watch", "lasts until it is ended"},
    NotRun{"gpufilter tune", "takes minutes on PoCL, and has nothing to do without OpenCL"},
    NotRun{"job=$(sbatch", "takes a Slurm cluster, such as scripts/try-slurm.sh makes"},
    NotRun{"sbatch", "takes a Slurm cluster"},
    NotRun{"scontrol", "takes a Slurm cluster"},
    NotRun{"kubectl", "takes a Kubernetes cluster"}};

bool is_run(const DocumentedCommand& command, std::set<std::string_view>& used) {
  for (const NotRun& entry : commands_not_run) {
    if (!command.text.starts_with(entry.begin)) continue;
    used.insert(entry.begin);
    return false;
  }
  return true;
}

bool has_commands_to_run(const std::string& page) {
  return page == "README.md" || page.starts_with("docs/");
}

fs::path program_folder() {
  return fs::path(GPUFILTER_PROGRAM).parent_path();
}

void fill_photos(const fs::path& folder) {
  fs::create_directories(folder / "2024");
  write_picture(random_image({60, 40}, {3, 8}, 5).rows(), folder / "boat.jpg");
  write_picture(random_image({31, 47}, {3, 8}, 6).rows(), folder / "2024" / "lake.jpg");
  write_png(random_image({45, 30}, {3, 16}, 7), folder / "moon.png");
}

void link_samples(const fs::path& folder) {
  const fs::path samples = GPUFILTER_SOURCE "/samples";
  for (const auto& entry : fs::recursive_directory_iterator(samples)) {
    const fs::path link = folder / entry.path().lexically_relative(samples);
    fs::create_directories(link.parent_path());
    if (entry.is_regular_file()) fs::create_symlink(entry.path(), link);
  }
}

// The files that the pages' commands read, under the names that they use, and this build in the
// place of the release build.
void fill(const fs::path& folder) {
  const Image photo = random_image({90, 61}, {3, 8}, 1);
  for (const char* name : {"in.png", "photo.png", "a.png", "b.png", "scan.png"})
    write_png(photo, folder / name);
  for (const char* name : {"in.jpg", "photo.jpg", "b.jpg", "scan.jpg"})
    write_picture(photo.rows(), folder / name);
  write_png(mixed_alpha_image({50, 33}, {4, 8}, 2), folder / "logo.png");
  write_png(random_image({64, 48}, {3, 16}, 3), folder / "deep.png");
  fill_photos(folder / "photos");
  fs::create_directory(folder / "logos");
  fs::copy_file(folder / "logo.png", folder / "logos" / "round.png");
  fs::create_directory(folder / "pngs");
  write_png(photo, folder / "pngs" / "Gulp.png");
  link_samples(folder / "samples");
  fs::create_directory(folder / "build");
  fs::create_directory_symlink(program_folder().parent_path(), folder / "build" / "release");
}

// With the OpenCL vendors of a file or folder; none of them has a GPU.
struct DocumentedCommands : ::testing::Test {
  [[nodiscard]] ProcessOptions environment(const fs::path& folder) const {
    const char* path = std::getenv("PATH");
    return {
        .environment = {{"PATH", program_folder().string() + ":" + (path == nullptr ? "" : path)},
                        {"HOME", home_.path().string()},
                        {"OCL_ICD_VENDORS", vendors_.string()},
                        {"OCL_ICD_FILENAMES", ""},
                        {"GPUFILTER_DEVICE", ""}},
        .folder = folder};
  }

  // Runs it in `folder`, which becomes the folder that the command leaves the shell in.
  void run(const DocumentedCommand& command, fs::path& folder) const {
    SCOPED_TRACE("line " + std::to_string(command.line) + ": " + command.text);
    const std::string left_in = home_ / "left-in";
    ProcessOptions options = environment(folder);
    // Large products take longer than PoCL does to optimise their kernels.
    if (command.text.find("--shapes") != std::string::npos)
      options.environment.merge(optimised().environment);
    const ProcessResult result = run_process(
        {"bash", "-c", "trap 'pwd > \"$0\"' EXIT\n" + command.text + " 2>&1", left_in}, options);
    folder = read_file(left_in);
    folder = folder.string().substr(0, folder.string().find('\n'));
    EXPECT_EQ(result.exit_code, command.exit_code) << result.out << result.err;
    if (!command.output) return;
    EXPECT_TRUE(matches_shown(*command.output, result.out)) << "the page shows\n"
                                                            << *command.output << "printed was\n"
                                                            << result.out;
  }

  [[nodiscard]] bool has_opencl() const { return vendors_ != home_.path(); }

  // Each page starts with the same files and nothing left by another.
  void run_all() const;

  const TemporaryFolder home_;
  fs::path vendors_ = home_.path();
};

void DocumentedCommands::run_all() const {
  std::set<std::string_view> used;
  std::set<std::string> measured;
  int count = 0;
  for (const std::string& page : pages()) {
    if (!has_commands_to_run(page)) continue;
    SCOPED_TRACE(page);
    const TemporaryFolder folder;
    fill(folder.path());
    fs::path current = folder.path();
    for (const CommandBlock& block : command_blocks(page_text(page))) {
      for (const DocumentedCommand& command : block) {
        if (!is_run(command, used)) continue;
        if (command.needs_opencl && !has_opencl()) continue;
        // PoCL compiles a benchmark's kernels for seconds: one of each subject, since
        // tests/cli/bench_test.cpp has the others.
        const std::string subject = command.text.substr(0, command.text.find(" --"));
        if (has_opencl() && !command.output && subject.starts_with("gpufilter bench ") &&
            !measured.insert(subject).second)
          continue;
        run(command, current);
        ++count;
      }
    }
  }
  EXPECT_GT(count, 20);
  for (const NotRun& entry : commands_not_run)
    EXPECT_TRUE(used.contains(entry.begin)) << entry.begin << ": no page has such a command";
}

TEST_F(DocumentedCommands, DoWhatThePagesSayWithoutOpenCl) {
  run_all();
}

TEST_F(DocumentedCommands, DoWhatThePagesSayWithPocl) {
  vendors_ = "/etc/OpenCL/vendors/pocl.icd";
  if (!fs::exists(vendors_)) GTEST_SKIP() << "skipped: no PoCL here";
  run_all();
}

// A command in a block that is not recognised would never be run.
TEST(Pages, HideNoCommand) {
  for (const std::string& page : pages()) {
    std::set<int> found;
    const std::string text = page_text(page);
    for (const CommandBlock& block : command_blocks(text)) {
      for (const DocumentedCommand& command : block)
        found.insert(command.line);
    }
    int number = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const bool in_block = line.starts_with("    ") || line.starts_with("$ ");
      const std::size_t begin = std::min(line.find_first_not_of(" $"), line.size());
      if (!in_block || line.compare(begin, 10, "gpufilter ") != 0) continue;
      EXPECT_TRUE(found.contains(number)) << page << ":" << number << ": " << line;
    }
  }
}

// Everyone can read what concerns every user in half an hour and the page of a stage in two
// minutes, however many stages there are; reasons and measurements are in docs/engineering.
TEST(Pages, AreShort) {
  constexpr std::size_t max_words_of_stage = 400;
  constexpr std::size_t max_words_of_others = 6700;
  std::size_t words = 0;
  for (const std::string& page : pages()) {
    if (!page.starts_with("docs/") || page.starts_with("docs/engineering/")) continue;
    const std::size_t own = words_in(page_text(page));
    if (page.starts_with("docs/stages/")) {
      EXPECT_LE(own, max_words_of_stage) << page;
    } else {
      words += own;
    }
  }
  EXPECT_GT(words, 4000U);
  EXPECT_LE(words, max_words_of_others);
  // What was tried and what was measured once belongs in commits, not in the pages for maintainers.
  words = 0;
  for (const std::string& page : pages())
    if (page.starts_with("docs/engineering/")) words += words_in(page_text(page));
  EXPECT_LE(words, 25500U);
}

TEST(Pages, NameTheExtensionsOfPicturesInFolders) {
  const std::string page = page_text("docs/folders.md");
  for (const Codec* codec : codecs()) {
    for (const std::string& extension : codec->extensions)
      EXPECT_TRUE(contains(page, "`" + extension + "`")) << extension;
  }
}

TEST(Pages, HaveSmallPicturesRealListsAndLinks) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(GPUFILTER_SOURCE "/docs/pictures")) {
    if (entry.path().extension() != ".jpg") continue;
    EXPECT_LT(entry.file_size(), 150'000U) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 5);
  for (const std::string& page : pages()) {
    for (const int line : accidental_lists(page_text(page)))
      ADD_FAILURE() << page << ":" << line << ": is shown as an item of a list";
  }
  for (const std::string& page : pages()) {
    const fs::path folder = (fs::path(GPUFILTER_SOURCE) / page).parent_path();
    for (const std::string& file : linked_files(page_text(page)))
      EXPECT_TRUE(fs::exists(folder / file)) << page << " links to " << file;
  }
  std::set<fs::path> listed;
  for (const std::string& file : linked_files(page_text("docs/README.md")))
    listed.insert(("docs" / fs::path(file)).lexically_normal());
  for (const std::string& page : pages()) {
    const bool of_docs = page.starts_with("docs/") && page != "docs/README.md";
    if (!of_docs || page.starts_with("docs/engineering/decisions/")) continue;
    EXPECT_TRUE(listed.contains(page)) << page;
  }
}

}  // namespace
}  // namespace gpufilter::test
