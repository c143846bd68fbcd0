#include "fuzz/mutate.hpp"

#include <ctime>
#include <iostream>

#include <CLI/CLI.hpp>

#include "fuzz/coverage.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

using Place = std::ptrdiff_t;

constexpr std::size_t longest_part = 64;

struct Settings {
  std::uint32_t seed = 1;
  std::uint32_t first = 0;
  std::uint32_t rounds = std::numeric_limits<std::uint32_t>::max();
  double cpu_seconds = std::numeric_limits<double>::infinity();
  bool slow = false;
  std::string keep;
  std::vector<std::string> files;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// An exception that is not a refusal is a finding, too.
std::string finding(const FuzzTarget& target, const Bytes& file) {
  try {
    return target.check(file);
  } catch (const std::exception& error) {
    return std::string("unexpected exception: ") + error.what();
  }
}

// The rounds of one target. Files that lead further join the seeds: those that reach new blocks of
// the library, and with --slow those that take longer than any before.
class Rounds {
 public:
  Rounds(FuzzTarget& target, const Settings& settings)
      : target_(target), settings_(settings), folder_(fs::path(settings.keep) / target.name) {
    if (!settings.keep.empty()) fs::create_directories(folder_);
  }

  // Returns the number of findings.
  int run() {
    const double end = cpu_seconds() + settings_.cpu_seconds;
    for (; done_ < settings_.rounds && cpu_seconds() < end; ++done_)
      one(settings_.first + done_);
    if (!settings_.keep.empty()) {
      fs::remove(running_);
      if (settings_.slow) keep(folder_ / "slowest", slowest_file_);
    }
    std::cout << target_.name << ": " << done_ << " rounds, " << findings_ << " findings, "
              << covered_blocks() << " blocks, slowest " << slowest_ << " s of "
              << slowest_file_.size() << " bytes" << std::endl;
    return findings_;
  }

 private:
  static void keep(const fs::path& path, const Bytes& file) {
    write_file(path, {file.begin(), file.end()});
  }

  // The file lies in the folder while it is checked: a crash leaves it there.
  void keep_running(const std::string& name, const Bytes& file) {
    if (settings_.keep.empty()) return;
    const fs::path path = folder_ / (name + ".running");
    if (!running_.empty()) fs::rename(running_, path);
    running_ = path;
    keep(path, file);
  }

  void one(std::uint32_t round) {
    Mutator mutator(settings_.seed, round);
    Bytes file = target_.seeds.at(mutator.below(target_.seeds.size()));
    target_.mutate(file, target_.seeds.at(mutator.below(target_.seeds.size())), mutator);
    const std::string name = std::to_string(settings_.seed) + "-" + std::to_string(round);
    keep_running(name, file);
    const std::size_t blocks = covered_blocks();
    const double begin = cpu_seconds();
    const std::string trouble = finding(target_, file);
    const double seconds = cpu_seconds() - begin;
    if (!trouble.empty()) {
      ++findings_;
      if (!settings_.keep.empty()) keep(folder_ / name, file);
      std::cout << target_.name << ", seed " << settings_.seed << ", round " << round << ": "
                << trouble << std::endl;
    }
    const bool is_slowest = seconds > slowest_;
    if (is_slowest) {
      slowest_ = seconds;
      slowest_file_ = file;
    }
    if (covered_blocks() > blocks || (settings_.slow && is_slowest))
      target_.seeds.push_back(std::move(file));
  }

  FuzzTarget& target_;
  const Settings& settings_;
  fs::path folder_;
  fs::path running_;
  std::uint32_t done_ = 0;
  int findings_ = 0;
  double slowest_ = 0;
  Bytes slowest_file_;
};

int replay(const FuzzTarget& target, const fs::path& folder) {
  int findings = 0;
  int files = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / target.name, none)) {
    ++files;
    const std::string trouble = finding(target, file_bytes(entry.path()));
    if (trouble.empty()) continue;
    ++findings;
    std::cout << entry.path().string() << ": " << trouble << std::endl;
  }
  std::cout << target.name << ": " << files << " files, " << findings << " findings" << std::endl;
  return findings;
}

}  // namespace

Mutator::Mutator(std::uint32_t seed, std::uint32_t round) {
  std::seed_seq sequence{seed, round};
  random_.seed(sequence);
}

// std::uniform_int_distribution differs between standard libraries.
std::size_t Mutator::below(std::size_t count) {
  const std::uint64_t number = std::uint64_t{random_()} << 32U | random_();
  return static_cast<std::size_t>(number % count);
}

void Mutator::change(Bytes& bytes, const Bytes& other) {
  if (bytes.empty()) {
    bytes.push_back(static_cast<std::uint8_t>(below(256)));
    return;
  }
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      bytes[below(bytes.size())] ^= static_cast<std::uint8_t>(1U << below(8));
      break;
    case 3:
      overwrite(bytes);
      break;
    case 4:
      add_to_number(bytes);
      break;
    case 5:
      remove(bytes);
      break;
    case 6:
      insert(bytes, bytes);
      break;
    default:
      insert(bytes, other);
  }
}

void Mutator::overwrite(Bytes& bytes) {
  constexpr std::array<std::uint8_t, 8> values{0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x10, 0xd0};
  const std::size_t begin = below(bytes.size());
  const std::size_t count = std::min(1 + below(one_in(4) ? longest_part : 2), bytes.size() - begin);
  const bool is_noise = one_in(2);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[begin + i] =
        is_noise ? static_cast<std::uint8_t>(below(256)) : values.at(below(values.size()));
  }
}

void Mutator::add_to_number(Bytes& bytes) {
  const std::size_t size = std::min(std::size_t{1} << below(3), bytes.size());
  const std::size_t begin = below(bytes.size() - size + 1);
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number = number << 8U | bytes[begin + i];
  number += static_cast<std::uint32_t>(below(33)) - 16U;
  for (std::size_t i = size; i-- > 0; number >>= 8U)
    bytes[begin + i] = static_cast<std::uint8_t>(number);
}

void Mutator::remove(Bytes& bytes) {
  const std::size_t begin = below(bytes.size());
  const std::size_t left = bytes.size() - begin;
  const std::size_t count = one_in(16) ? left : std::min(1 + below(longest_part), left);
  const auto first = bytes.begin() + static_cast<Place>(begin);
  bytes.erase(first, first + static_cast<Place>(count));
}

// `from` may be `bytes` itself.
void Mutator::insert(Bytes& bytes, const Bytes& from) {
  if (from.empty()) return;
  const std::size_t begin = below(from.size());
  const std::size_t count = std::min(1 + below(longest_part), from.size() - begin);
  const auto first = from.begin() + static_cast<Place>(begin);
  const Bytes part(first, first + static_cast<Place>(count));
  const auto to = static_cast<Place>(below(bytes.size() + 1));
  if (one_in(2)) {
    bytes.insert(bytes.begin() + to, part.begin(), part.end());
  } else {
    std::copy_n(part.begin(), std::min(static_cast<Place>(part.size()), std::ssize(bytes) - to),
                bytes.begin() + to);
  }
}

void change_anywhere(Bytes& file, const Bytes& other, Mutator& mutator) {
  for (std::size_t left = 1 + mutator.below(4); left > 0; --left)
    mutator.change(file, other);
}

int fuzz(int argc, char** argv, std::vector<FuzzTarget> targets) {
  CLI::App app("Changes files at random and checks how they are read.");
  Settings settings;
  std::string wanted;
  std::string folder;
  bool list = false;
  app.add_flag("--list", list, "Print the targets' names.");
  app.add_option("--target", wanted, "Only this one of several.");
  app.add_option("--seed", settings.seed, "Another seed makes other files.");
  app.add_option("--first", settings.first, "The first round.");
  app.add_option("--rounds", settings.rounds, "Stop after so many rounds.");
  app.add_option("--cpu-seconds", settings.cpu_seconds, "Stop after so much CPU time.");
  app.add_flag("--slow", settings.slow, "Search for files that take long; keep the slowest.");
  app.add_option("--keep", settings.keep, "Folder for files that are findings: DIR/TARGET/*.");
  app.add_option("--replay", folder, "Check the files DIR/TARGET/* as they are.");
  app.add_option("files", settings.files, "Files to change, besides the program's own.");
  try {
    app.parse(argc, argv);
    if (!wanted.empty())
      std::erase_if(targets, [&](const FuzzTarget& target) { return target.name != wanted; });
    if (targets.empty()) throw CLI::ValidationError("--target", wanted + " is none of them");
    int findings = 0;
    for (FuzzTarget& target : targets) {
      if (list) {
        std::cout << target.name << '\n';
        continue;
      }
      for (const std::string& path : settings.files)
        target.seeds.push_back(file_bytes(path));
      findings += folder.empty() ? Rounds(target, settings).run() : replay(target, folder);
    }
    return findings == 0 ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}

}  // namespace gpufilter::test
