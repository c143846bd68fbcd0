// Runs the program on shards of a folder.
#pragma once

#include "batch/shard_run.hpp"
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {

class ShardTest : public BatchTest {
 protected:
  using Words = std::vector<std::string>;

  // Runs shard `index` of `count` of a blur from in_ to out_.
  [[nodiscard]] ProcessResult shard(int index, int count, Words more = {},
                                    const ProcessOptions& options = {}) const {
    more.insert(more.end(), {"--shard", formatted("{}/{}", index, count)});
    return batch(more, options);
  }

  [[nodiscard]] Json json_shard(int index, int count, Words more = {}, int exit_code = 0) const {
    more.insert(more.end(), {"--shard", formatted("{}/{}", index, count)});
    return json_batch(more, exit_code);
  }

  // The results, without the shards' own files.
  [[nodiscard]] static Files pictures_in(const std::filesystem::path& folder) {
    Files files = results_in(folder);
    std::erase_if(files, [](const auto& file) { return file.first.starts_with(shards_name); });
    return files;
  }

  // Expects that every shard ends with exit code 2 and the same line, and changes nothing.
  void expect_refusal_in_each(int count, const Words& more, const Words& parts) const {
    for (int index = 0; index < count; ++index) {
      Words words = more;
      words.insert(words.end(), {"--shard", formatted("{}/{}", index, count)});
      expect_refusal(words, parts);
    }
  }
};

}  // namespace gpufilter::test
