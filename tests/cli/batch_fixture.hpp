// Runs the program on folders of pictures as users do.
#pragma once

#include "base/atomic_file.hpp"
#include "batch/shard_run.hpp"
#include "cli/program_fixture.hpp"

namespace gpufilter::test {

struct BatchTest : ProgramTest {
  using Files = std::map<std::string, std::string>;  // bytes by relative path

  void SetUp() override { fs::create_directory(in_); }

  // A random picture in the input folder; the name decides its format.
  void put(const std::string& name, ImageSize size = {37, 29}) const {
    const fs::path path = fs::path(in_) / name;
    fs::create_directories(path.parent_path());
    write_picture(random_image(size, format_, std::hash<std::string>{}(name)).rows(), path);
  }

  void put_many(int count, ImageSize size = {37, 29}) const {
    for (int i = 0; i < count; ++i)
      put(formatted("p{}.png", 100 + i), size);
  }

  // Blurs everything from in_ to out_ on the reference, with the options `more`.
  [[nodiscard]] Words command(const Words& more) const {
    const Words words = Words{in_, out_, "--blur", "auto", "--device", "cpu"} + more;
    return words;
  }

  [[nodiscard]] ProcessResult batch(const Words& more = {},
                                    const ProcessOptions& options = {}) const {
    return filter(command(more), options);
  }

  // Runs a batch that has to succeed.
  [[nodiscard]] ProcessResult good_batch(const Words& more = {}) const {
    ProcessResult result = ended(0, batch(more));
    return result;
  }

  // The document that --json prints; the run ends with `exit_code`.
  [[nodiscard]] Json json_batch(const Words& more = {}, int exit_code = 0) const {
    const ProcessResult result = ended(exit_code, batch(more + Words{"--json"}));
    EXPECT_TRUE(Json::accept(result.out)) << result.out;
    return Json::parse(result.out, nullptr, false);
  }

  [[nodiscard]] static Words statuses(const Json& document) {
    Words all;
    for (const Json& picture : document["pictures"])
      all.push_back(picture["status"]);
    return all;
  }

  // Expects a refusal: exit code 2, one line with `parts`, no output.
  void expect_refusal(const Words& more, const Words& parts) const {
    const Files before = everything_in(folder_.path());
    const ProcessResult result = ended(2, batch(more));
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
    EXPECT_EQ(everything_in(folder_.path()), before);
  }

  // Everything in the folder; names of folders end in a slash, those of other things in a question
  // mark.
  [[nodiscard]] static Files everything_in(const fs::path& folder) {
    Files files;
    if (!fs::exists(folder)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().lexically_relative(folder);
      if (entry.is_symlink() || (!entry.is_directory() && !entry.is_regular_file())) {
        files[name + "?"];
      } else if (entry.is_directory()) {
        files[name + "/"];
      } else {
        files[name] = read_file(entry.path());
      }
    }
    return files;
  }

  // Without the journals and the folders.
  [[nodiscard]] static Files results_in(const fs::path& folder) {
    Files files = everything_in(folder);
    std::erase_if(files, [](const auto& file) {
      return file.first.ends_with('/') || file.first.ends_with(".gpufilter-journal");
    });
    return files;
  }

  [[nodiscard]] static Words names_of(const Files& files) {
    Words names;
    for (const auto& [name, bytes] : files)
      names.push_back(name);
    return names;
  }

  // The bytes of an undisturbed run, in a separate folder.
  [[nodiscard]] Files undisturbed(Words more = {}) const {
    const TemporaryFolder elsewhere;
    Words words = command(more);
    words[1] = elsewhere / "out";
    ended(0, filter(words));
    return results_in(words[1]);
  }

  // Whether every file in `files` is also in `expected` with the same bytes, so that none is
  // unfinished.
  [[nodiscard]] static ::testing::AssertionResult all_whole(const Files& files,
                                                            const Files& expected) {
    for (const auto& [name, bytes] : files) {
      if (is_temporary_name(fs::path(name).filename().native())) continue;
      const auto whole = expected.find(name);
      if (whole == expected.end()) return ::testing::AssertionFailure() << name << " is new";
      if (whole->second != bytes) return ::testing::AssertionFailure() << name << " differs";
    }
    return ::testing::AssertionSuccess();
  }

  std::string in_ = folder_ / "in";
  std::string out_ = folder_ / "out";
};

// Runs the program on shards of a folder.
struct ShardTest : BatchTest {
  // Runs shard `index` of `count` of a blur from in_ to out_.
  [[nodiscard]] ProcessResult shard(int index, int count, const Words& more = {},
                                    const ProcessOptions& options = {}) const {
    return batch(more + Words{"--shard", formatted("{}/{}", index, count)}, options);
  }

  [[nodiscard]] Json json_shard(int index, int count, const Words& more = {},
                                int exit_code = 0) const {
    return json_batch(more + Words{"--shard", formatted("{}/{}", index, count)}, exit_code);
  }

  // Runs all shards, which have to succeed.
  void run_shards(int count, const Words& more = {}, const ProcessOptions& options = {}) const {
    for (int index = 0; index < count; ++index)
      ended(0, shard(index, count, more, options));
  }

  // The results, without the shards' own files.
  [[nodiscard]] static Files pictures_in(const fs::path& folder) {
    Files files = results_in(folder);
    std::erase_if(files, [](const auto& file) { return file.first.starts_with(shards_name); });
    return files;
  }

  // Expects that every shard ends with exit code 2 and the same line, and changes nothing.
  void expect_refusal_in_each(int count, const Words& more, const Words& parts) const {
    for (int index = 0; index < count; ++index)
      expect_refusal(more + Words{"--shard", formatted("{}/{}", index, count)}, parts);
  }
};

}  // namespace gpufilter::test
