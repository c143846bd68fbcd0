// The cost of dividing a large folder, without filtering it: lab/peers/README.md.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/content_hash.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "batch/batch_plan.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t pictures_in_a_folder = 1000;

struct Setup {
  std::string folder;
  std::uint32_t pictures;
  std::uint32_t shards;

  [[nodiscard]] std::string in() const { return folder + "/in"; }
  [[nodiscard]] std::string out() const { return folder + "/out"; }
  [[nodiscard]] std::string list() const { return folder + "/list"; }

  [[nodiscard]] BatchRequest request(Shard shard, bool listed) const {
    BatchRequest request;
    request.inputs = {in()};
    request.output = out();
    request.recursive = !listed;
    if (listed) request.list = list();
    request.shard = ShardRequest{shard, "", {}, ""};
    return request;
  }
};

std::string name_of(std::uint32_t picture) {
  return formatted("day{:04}/IMG_{:08}.jpg", picture / pictures_in_a_folder, picture);
}

// Sizes as of a camera: 3 MB in the middle, a third of them outside 1.8 to 5 MB.
std::vector<std::uint64_t> sizes_of(std::uint32_t pictures) {
  std::mt19937 random(1);
  std::lognormal_distribution<> size(std::log(3e6), 0.5);
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t i = 0; i < pictures; ++i)
    sizes.push_back(static_cast<std::uint64_t>(size(random)));
  return sizes;
}

// Files without contents, and a list of them.
void make_folder(const Setup& setup) {
  const auto sizes = sizes_of(setup.pictures);
  std::string text;
  for (std::uint32_t i = 0; i < setup.pictures; ++i) {
    const fs::path path = fs::path(setup.in()) / name_of(i);
    if (i % pictures_in_a_folder == 0) fs::create_directories(path.parent_path());
    const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (::ftruncate(file.get(), static_cast<off_t>(sizes[i])) != 0) std::abort();
    text += formatted("{}\t{}", sizes[i], name_of(i)) + '\0';
  }
  const FileDescriptor list = open_file(setup.list(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  write_fully(list.get(), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// The journals of all shards, with both lines that a picture gets.
void write_journals(const Setup& setup) {
  const auto run = read_shard_run(setup.out());
  const PictureList listing = read_run_listing(setup.out(), *run);
  const auto shards = assign_shards(listing.pictures(), setup.shards);
  std::vector<std::vector<std::size_t>> of_shard(setup.shards);
  for (std::size_t i = 0; i < shards.size(); ++i)
    of_shard[shards[i]].push_back(i);
  const FileStamp stamp{3'000'000, 12'345'678, 1'795'347'684'585'403'932,
                        1'795'347'684'589'403'932};
  for (std::uint32_t i = 0; i < setup.shards; ++i) {
    const auto journal = begin_shard_journal(setup.out(), {i, setup.shards});
    for (const std::size_t picture : of_shard[i]) {
      JournalRecord record{{1, 2}, {3, picture}, stamp, {4, picture}, 3'000'000, std::nullopt};
      const std::string output(listing.pictures()[picture].name);
      journal->add(output, record);
      record.output_stamp = stamp;
      journal->add(output, record);
    }
    note_end(*journal);
  }
}

std::uint64_t bytes_in(const fs::path& folder, const std::string& part_of_name) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().find(part_of_name) != std::string::npos) {
      bytes += entry.file_size();
    }
  }
  return bytes;
}

// Does the work in a separate process and prints its time.
void measure(const std::string& what, const std::function<void()>& work) {
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  std::printf("| %s | %.2f s | %.2f s | %ld MB |%s\n", what.c_str(),
              seconds(usage.ru_utime) + seconds(usage.ru_stime), wall, usage.ru_maxrss / 1024,
              status == 0 ? "" : " FAILED");
}

void print_balance(const char* name, const std::vector<std::uint64_t>& loads) {
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  double sum = 0;
  for (const std::uint64_t load : loads)
    sum += static_cast<double>(load);
  const double mean = sum / static_cast<double>(loads.size());
  std::printf("%s: mean %.3f GB, largest %+.4f %%, smallest %+.4f %%\n", name, mean / 1e9,
              100 * (static_cast<double>(*most) / mean - 1),
              100 * (static_cast<double>(*least) / mean - 1));
}

void show_balance(const Setup& setup) {
  const auto sizes = sizes_of(setup.pictures);
  std::vector<std::string> names;
  std::vector<SizedName> pictures;
  for (std::uint32_t i = 0; i < setup.pictures; ++i)
    names.push_back(name_of(i));
  for (std::uint32_t i = 0; i < setup.pictures; ++i)
    pictures.push_back({names[i], sizes[i]});
  std::vector<std::uint64_t> loads(setup.shards);
  std::vector<std::uint64_t> hashed(setup.shards);
  const auto shards = assign_shards(pictures, setup.shards);
  for (std::uint32_t i = 0; i < setup.pictures; ++i) {
    loads[shards[i]] += sizes[i];
    hashed[content_hash(names[i]).low % setup.shards] += sizes[i];
  }
  print_balance("shares", loads);
  print_balance("shares by a hash of the name, to compare", hashed);
}

void run(const Setup& setup) {
  const std::uint32_t shards = setup.shards;
  const auto plan = [&](Shard shard, bool listed) {
    static_cast<void>(make_shard_plan(setup.request(shard, listed)));
  };
  std::printf(
      "%u pictures, %u shards\n\n| | processor | wall clock | memory |\n|---|---|---|---|\n",
      setup.pictures, shards);
  measure("the folder is made", [&] { make_folder(setup); });
  measure("first process, searches the folder", [&] { plan({0, shards}, false); });
  measure("first process, `--list` with sizes", [&] { plan({0, shards}, true); });
  measure("the same, and publishes the run", [&] {
    const BatchRequest request = setup.request({0, shards}, true);
    static_cast<void>(join_run(request, make_shard_plan(request)));
  });
  BatchRequest later = setup.request({1, shards}, true);
  later.list.clear();
  measure("each later process", [&] { static_cast<void>(make_shard_plan(later)); });
  measure("all journals are written", [&] { write_journals(setup); });
  measure("a process tried again", [&] { static_cast<void>(make_shard_plan(later)); });
  later.shard->shard = {1, shards - 1};
  measure("a process of another division", [&] { static_cast<void>(make_shard_plan(later)); });
  measure("all records together", [&] { static_cast<void>(records_of_everyone(setup.out())); });
  const fs::path folder = fs::path(setup.out()) / shards_name;
  std::printf("\nlisting: %.1f MB; journals: %.1f MB, %.0f bytes a picture\n",
              static_cast<double>(bytes_in(folder, "listing")) / 1e6,
              static_cast<double>(bytes_in(folder, "-of-")) / 1e6,
              static_cast<double>(bytes_in(folder, "-of-")) / setup.pictures);
  show_balance(setup);
}

}  // namespace
}  // namespace gpufilter::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: shard_bench NEW_FOLDER PICTURES SHARDS\n", stderr);
    return 2;
  }
  const gpufilter::bench::Setup setup{argv[1], static_cast<std::uint32_t>(std::atoi(argv[2])),
                                      static_cast<std::uint32_t>(std::atoi(argv[3]))};
  if (setup.pictures == 0 || setup.shards < 2 || std::filesystem::exists(setup.folder)) {
    std::fputs("shard_bench: the folder exists, or a number is too small\n", stderr);
    return 2;
  }
  gpufilter::bench::run(setup);
  std::filesystem::remove_all(setup.folder);
  return 0;
}
