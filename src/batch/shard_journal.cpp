#include "batch/shard_journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/process_token.hpp"
#include "base/regular_file.hpp"
#include "base/system_failure.hpp"
#include "base/whole_number.hpp"
#include "batch/journal_text.hpp"
#include "batch/shard_run.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string file_name(const ShardProcess& process) {
  return formatted("{}-of-{}-{}", process.shard.index, process.shard.count, process.token);
}

// The shard in the name of a journal; nothing if the name is not a journal's.
std::optional<Shard> shard_of(const std::string& name) {
  const auto parts = split(name, '-');
  Shard shard;
  if (parts.size() != 4 || parts[1] != "of" || !parse_whole(parts[0], shard.index) ||
      !parse_whole(parts[2], shard.count) || parts[3].size() != process_token_digits) {
    return std::nullopt;
  }
  return shard;
}

std::string start_line(const ShardProcess& process) {
  return sealed(formatted("start1 {} {} {} {} {} {}", process.shard.index, process.shard.count,
                          process.token, escaped(process.host), process.process, process.began));
}

std::optional<ShardProcess> parse_start(std::string_view line) {
  const auto text = unsealed(line);
  const auto parts = text ? split(*text, ' ') : std::vector<std::string_view>{};
  ShardProcess process;
  if (parts.size() != 7 || parts[0] != "start1" || !parse_whole(parts[1], process.shard.index) ||
      !parse_whole(parts[2], process.shard.count) || !parse_whole(parts[5], process.process) ||
      !parse_whole(parts[6], process.began)) {
    return std::nullopt;
  }
  process.token = parts[3];
  process.host = unescaped(parts[4]).value_or("");
  return process;
}

void take_line(ShardJournal& journal, std::string_view line) {
  if (auto record = parse_journal_line(line)) {
    journal.failures.erase(record->first);
    journal.records.insert_or_assign(std::move(record->first), record->second);
    return;
  }
  const auto text = unsealed(line);
  if (!text) return;
  const auto parts = split(*text, ' ');
  journal.ended = parts[0] == "end1";
  if (parts[0] != "failed1" || parts.size() != 3) return;
  const auto output = unescaped(parts[1]);
  const auto failure = unescaped(parts[2]);
  if (output && failure) journal.failures[*output] = *failure;
}

std::optional<ShardJournal> read_one(const std::string& path) {
  try {
    const FileDescriptor file = open_regular_file(path, O_RDONLY | O_NOFOLLOW);
    ShardJournal journal;
    journal.at_work = ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const std::string whole = read_regular_file(file, largest_journal);
    const std::string_view text = whole;
    const std::size_t first = text.find('\n');
    const auto process = parse_start(text.substr(0, first));
    if (const Damage damage = damage_in(text); damage.damaged > 0) {
      log::warn(printable(formatted("{}: {}{}", path, damage.text(),
                                    process ? "" : "; without its first line it is ignored")));
    }
    if (!process || first == std::string_view::npos) return std::nullopt;
    journal.process = *process;
    for (const std::string_view line : split(text.substr(first + 1), '\n'))
      if (!line.empty()) take_line(journal, line);
    return journal;
  } catch (const UnsuitableFile& error) {
    throw PictureError(path, formatted("{}; remove it to go on without it", error.what()));
  } catch (const std::system_error& error) {
    throw SystemFailure(path, error.code().value());
  }
}

}  // namespace

std::vector<ShardJournal> read_shard_journals(const std::string& output,
                                              const std::function<bool(const Shard&)>& wanted) {
  std::vector<ShardJournal> journals;
  visit_shard_journals(output, wanted,
                       [&](ShardJournal journal) { journals.push_back(std::move(journal)); });
  std::sort(journals.begin(), journals.end(), [](const ShardJournal& a, const ShardJournal& b) {
    return std::tie(a.process.began, a.process.token) < std::tie(b.process.began, b.process.token);
  });
  return journals;
}

void visit_shard_journals(const std::string& output,
                          const std::function<bool(const Shard&)>& wanted,
                          const std::function<void(ShardJournal)>& visit) {
  const std::string folder = fs::path(output) / shards_name;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const auto shard = shard_of(entry->path().filename());
    if (!shard || !wanted(*shard)) continue;
    if (auto journal = read_one(entry->path())) visit(std::move(*journal));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw SystemFailure(folder, error.value());
  }
}

std::unique_ptr<Journal> begin_shard_journal(const std::string& output, const Shard& shard) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const ShardProcess process{
      shard, process_token(), host_name(), ::getpid(),
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count()};
  return std::make_unique<Journal>(output, fs::path(output) / shards_name / file_name(process),
                                   start_line(process));
}

void note_failure(Journal& journal, const std::string& output, const std::string& failure) {
  journal.write_line(sealed(formatted("failed1 {} {}", escaped(output), escaped(failure))));
}

void note_end(Journal& journal) {
  journal.write_line(sealed("end1"));
}

}  // namespace gpufilter
