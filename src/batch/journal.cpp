#include "batch/journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_cursor.hpp"
#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t checksum_digits = 16;

std::string checksum(std::string_view text) {
  return to_string(content_hash(text)).substr(0, checksum_digits);
}

// Whether the text may be a line that its writer did not finish.
bool may_begin_line(std::string_view text) {
  const std::string_view sum = text.substr(0, checksum_digits);
  return sum.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         (text.size() <= checksum_digits || text[checksum_digits] == ' ');
}

// The version of the lines, and of the hashes in them. Lines of another version are treated as
// absent.
constexpr std::string_view version = "2";
constexpr std::size_t few_lines = 1000;  // not worth rewriting
constexpr std::string_view begin_word = "begin1";
constexpr std::string_view end_word = "end1";

std::string run_line(const RunWork& work) {
  return sealed(formatted("{} {} {}", begin_word, to_string(work.stages), to_string(work.options)));
}

void take_run_line(std::optional<LastRun>& run, std::string_view line) {
  const auto text = unsealed(line);
  if (!text) return;
  const auto parts = split(*text, ' ');
  if (parts[0] == end_word && run) run->ended = true;
  if (parts[0] != begin_word || parts.size() != 3) return;
  const auto stages = parse_content_hash(parts[1]);
  const auto options = parse_content_hash(parts[2]);
  if (stages && options) run = LastRun{{*stages, *options}};
}

std::string stamp_text(const std::optional<FileStamp>& stamp) {
  if (!stamp) return "-";
  return formatted("{}:{}:{}:{}", stamp->bytes, stamp->inode, stamp->modified, stamp->changed);
}

// False if `text` is neither a stamp nor "-", which means none.
bool parse_stamp(std::string_view text, std::optional<FileStamp>& stamp) {
  if (text == "-") return true;
  const auto parts = split(text, ':');
  FileStamp read;
  if (parts.size() != 4 || !parse_whole(parts[0], read.bytes) ||
      !parse_whole(parts[1], read.inode) || !parse_whole(parts[2], read.modified) ||
      !parse_whole(parts[3], read.changed)) {
    return false;
  }
  stamp = read;
  return true;
}

[[noreturn]] void throw_failure(const std::string& path, int error) {
  throw SystemFailure(path, error);
}

// A failure to open or read a journal. It names the folder if there is no journal yet.
[[noreturn]] void throw_failure(const std::string& path, const std::string& folder,
                                const std::system_error& error) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) throw_failure(folder, error.code().value());
  if (S_ISREG(status.st_mode) && !is_unsuitable(error)) throw_failure(path, error.code().value());
  throw SystemFailure(path, reason_of(error) + "; remove it to begin a new journal",
                      error.code().value());
}

std::string journal_path(const std::string& folder) {
  return std::filesystem::path(folder) / journal_name;
}

struct JournalLines {
  JournalRecords records;
  std::optional<LastRun> run;
  std::size_t count = 0;  // of all lines, including those that are not records
  Damage damage;
};

// No lines if the folder has no journal.
JournalLines read_lines(const std::string& folder) {
  const std::string path = journal_path(folder);
  JournalLines lines;
  std::string text;
  try {
    text = read_regular_file(path, largest_journal);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_file_or_directory) return lines;
    throw_failure(path, folder, error);
  }
  lines.damage = damage_in(text);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) ++lines.count;
    if (auto record = parse_journal_line(line)) {
      lines.records.insert_or_assign(std::move(record->first), record->second);
    } else {
      take_run_line(lines.run, line);
    }
  }
  return lines;
}

// Whether `path` leads to the open file.
bool is_at(int descriptor, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Removes an incomplete last line, left by a killed writer or a full disk. Returns false if one
// remains, because it is too long to be a line.
bool remove_incomplete_line(int descriptor) {
  std::array<char, std::size_t{64} << 10U> last{};
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(last.size()));
  const ssize_t count = ::pread(descriptor, last.data(), last.size(), begin);
  if (count < 0) return false;
  const std::string_view text(last.data(), static_cast<std::size_t>(count));
  const std::size_t line_end = text.rfind('\n');
  if (line_end == std::string_view::npos && begin > 0) return false;
  const off_t kept =
      line_end == std::string_view::npos ? 0 : begin + static_cast<off_t>(line_end) + 1;
  return kept >= size || ::ftruncate(descriptor, kept) == 0;
}

}  // namespace

std::string sealed(const std::string& text) {
  return checksum(text) + " " + text;
}

std::optional<std::string_view> unsealed(std::string_view line) {
  if (line.size() <= checksum_digits || line[checksum_digits] != ' ' ||
      line.substr(0, checksum_digits) != checksum(line.substr(checksum_digits + 1))) {
    return std::nullopt;
  }
  return line.substr(checksum_digits + 1);
}

std::string Damage::text() const {
  return formatted("is damaged: {} of {} cannot be read", damaged, counted(lines, "line"));
}

Damage damage_in(std::string_view journal) {
  Damage found;
  while (!journal.empty()) {
    const std::size_t end = journal.find('\n');
    const std::string_view line = journal.substr(0, end);
    const bool is_whole = end != std::string_view::npos;
    journal.remove_prefix(is_whole ? end + 1 : journal.size());
    if (line.empty() || (!is_whole && may_begin_line(line))) continue;
    ++found.lines;
    if (!unsealed(line)) ++found.damaged;
  }
  return found;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != 0x7f && c != '%') {
      text += c;
    } else {
      text += formatted("%{:02x}", byte);
    }
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    unsigned byte = 0;
    if (text.size() - i < 3) return std::nullopt;
    const char* begin = text.data() + i + 1;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
    i += 2;
  }
  return bytes;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

std::string journal_line(const std::string& output, const JournalRecord& record) {
  const std::string text =
      formatted("{} {} {} {} {} {} {} {}", version, to_string(record.work), to_string(record.input),
                stamp_text(record.input_stamp), to_string(record.output), record.output_bytes,
                stamp_text(record.output_stamp), escaped(output));
  return sealed(text);
}

std::optional<std::pair<std::string, JournalRecord>> parse_journal_line(std::string_view line) {
  const auto text = unsealed(line);
  if (!text) return std::nullopt;
  const auto parts = split(*text, ' ');
  if (parts.size() != 8 || parts[0] != version) return std::nullopt;
  const auto work = parse_content_hash(parts[1]);
  const auto input = parse_content_hash(parts[2]);
  const auto output = parse_content_hash(parts[4]);
  const auto name = unescaped(parts[7]);
  JournalRecord record;
  if (!work || !input || !output || !name || !parse_stamp(parts[3], record.input_stamp) ||
      !parse_whole(parts[5], record.output_bytes) || !parse_stamp(parts[6], record.output_stamp)) {
    return std::nullopt;
  }
  record.work = *work;
  record.input = *input;
  record.output = *output;
  return std::pair{*name, record};
}

JournalRecords read_journal(const std::string& folder, Damage* damage) {
  JournalLines lines = read_lines(folder);
  if (damage != nullptr) *damage = lines.damage;
  return std::move(lines.records);
}

std::optional<LastRun> read_last_run(const std::string& folder) {
  return read_lines(folder).run;
}

JournalRecords read_journal_with_warning(const std::string& folder) {
  Damage damage;
  JournalRecords records = read_journal(folder, &damage);
  if (damage.damaged > 0) {
    log::warn(
        printable(formatted("{}: {}; the results that they recorded are not known to be complete",
                            journal_path(folder), damage.text())));
  }
  return records;
}

Journal::Journal(const std::string& folder) : path_(journal_path(folder)) {
  try {
    file_ = open_locked(folder, LOCK_EX);
    compact();
  } catch (const std::system_error& error) {
    throw_failure(path_, folder, error);
  }
  torn_ = !is_locked_ || !remove_incomplete_line(file_.get());
}

Journal::Journal(const std::string& folder, const std::string& path, const std::string& first_line)
    : path_(journal_path(folder)) {
  try {
    folder_lock_ = open_locked(folder, LOCK_SH);
    path_ = path;
    file_ = open_regular_file(path_, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0666);
    // Nobody else takes this lock except read_shard_journals(), for a moment.
    ::flock(file_.get(), LOCK_EX);
    write_line(first_line, true);
  } catch (const std::system_error& error) {
    throw_failure(path_, folder, error);
  }
}

// Another program may rewrite the journal between our opening and locking it. Our file is then no
// longer the journal, and it is opened again.
FileDescriptor Journal::open_locked(const std::string& folder, int lock) {
  constexpr int max_tries = 10;  // some file systems have no stable inode numbers
  FileDescriptor file;
  for (int tries = 0; tries < max_tries && !is_at(file.get(), path_); ++tries) {
    file = open_regular_file(path_, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0666);
    is_locked_ = ::flock(file.get(), lock | LOCK_NB) == 0;
    if (!is_locked_ && errno == EWOULDBLOCK) {
      throw UsageError(
          formatted("{}: another gpufilter is writing to this folder; wait until it ends", folder));
    }
  }
  return file;
}

// If killed at any time, this leaves either the old journal or the new one. The old one stays in
// use if no new one can be written, and without a lock, because another program may be writing.
void Journal::compact() {
  if (!is_locked_) return;
  const JournalLines lines = read_lines(std::filesystem::path(path_).parent_path());
  run_begun_ = lines.run && !lines.run->ended;
  const bool is_stale = lines.count > few_lines && lines.count > 2 * lines.records.size();
  if (!is_stale && lines.damage.damaged == 0) return;
  std::string text;
  for (const auto& [output, record] : lines.records)
    text += journal_line(output, record) + "\n";
  if (lines.run && !lines.run->ended) text += run_line(lines.run->work) + "\n";
  const std::string path = path_ + ".new";
  try {
    FileDescriptor file =
        open_regular_file(path, O_RDWR | O_APPEND | O_CREAT | O_TRUNC | O_NOFOLLOW, 0666);
    ::flock(file.get(), LOCK_EX | LOCK_NB);
    write_fully(file.get(), as_bytes(text));
    const bool durable = ::fsync(file.get()) == 0 || errno == EINVAL || errno == ENOTSUP;
    if (!durable || ::rename(path.c_str(), path_.c_str()) != 0) {
      throw std::system_error(errno, std::generic_category());
    }
    file_ = std::move(file);
  } catch (const std::system_error& error) {
    ::unlink(path.c_str());
    log::debug(formatted("{}: cannot be rewritten: {}", path_, error.what()));
  }
}

void Journal::add(const std::string& output, const JournalRecord& record, bool durably) {
  write_line(journal_line(output, record), durably);
}

void Journal::add_all(const JournalRecords& records) {
  constexpr std::size_t enough = std::size_t{1} << 20U;  // bytes in one write
  std::string lines;
  for (const auto& [output, record] : records) {
    if (lines.size() >= enough) {
      write_line(lines);
      lines.clear();
    }
    if (!lines.empty()) lines += '\n';
    lines += journal_line(output, record);
  }
  // This also syncs all earlier lines.
  if (!lines.empty()) write_line(lines, true);
}

void Journal::begin_run(const RunWork& work) {
  const std::lock_guard lock(mutex_);
  run_line_ = run_line(work);
}

void Journal::end_run() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(run_begun_, false)) append(sealed(std::string(end_word)), false);
}

void Journal::write_line(const std::string& line, bool durably) {
  const std::lock_guard lock(mutex_);
  if (!run_line_.empty()) {
    append(run_line_, false);
    run_begun_ = true;
    run_line_.clear();
  }
  append(line, durably);
}

void Journal::append(const std::string& line, bool durably) {
  const std::string text = (torn_ ? "\n" : "") + line + "\n";
  torn_ = true;
  try {
    write_fully(file_.get(), as_bytes(text));
  } catch (const std::system_error& error) {
    torn_ = !remove_incomplete_line(file_.get());
    throw_failure(path_, error.code().value());
  }
  torn_ = false;
  if (durably && ::fdatasync(file_.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    throw_failure(path_, errno);
  }
}

}  // namespace gpufilter
