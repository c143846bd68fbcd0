// For LD_PRELOAD: the operating system's calls on files fail as FAULTY_FILES says. That holds
// faults with ';' between them, each of four words: a call (open, read, write, rename, sync, close,
// link, unlink, stat, lock, memory), a part of the path that it is for, the number of the first
// such call that fails, with '+' if those after it fail too, and what happens: the name of an error
// (ENOSPC, EDQUOT, EIO, EROFS, ESTALE, EINTR, EMFILE, ENOMEM, ...), short (half of the bytes are
// read or written), lost (done, but the answer says ENOENT, as over NFS when a reply is lost), kill
// (SIGKILL before the call), truncate, remove or replace (that happens to the file before the
// call). FAULTY_DECODER=abort ends the process that decodes apart; FAULTY_CLOCK=-3600 moves the
// clock. FAULTY_NAMES=outs/ makes file names in such folders lose their case and have composed
// letters, as on a Mac: there, A.png is a.png.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

struct Name {
  const char* text;
  int error;
};
constexpr Name errors[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT},    {"EIO", EIO},
                           {"EROFS", EROFS},   {"ESTALE", ESTALE},    {"EINTR", EINTR},
                           {"EMFILE", EMFILE}, {"EACCES", EACCES},    {"EXDEV", EXDEV},
                           {"ENOENT", ENOENT}, {"EPERM", EPERM},      {"ENOLCK", ENOLCK},
                           {"EBUSY", EBUSY},   {"ENOTCONN", ENOTCONN}};

// One fault, read without allocating memory.
struct Fault {
  char call[16];
  char path[64];
  int first;
  bool lasts;
  char way[16];
  std::atomic<int> calls;
};
Fault faults[8];
int count = 0;
thread_local bool inside = false;

__attribute__((constructor)) void read_faults() {
  const char* text = getenv("FAULTY_FILES");
  while (text != nullptr && *text != '\0' && count < 8) {
    Fault& fault = faults[count];
    char number[16] = {};
    if (sscanf(text, "%15s %63s %15s %15[^;]", fault.call, fault.path, number, fault.way) == 4) {
      fault.first = atoi(number);
      fault.lasts = strchr(number, '+') != nullptr;
      ++count;
    }
    text = strchr(text, ';');
    if (text != nullptr) ++text;
  }
  const char* decoder = getenv("FAULTY_DECODER");
  if (decoder == nullptr) return;
  char words[256] = {};
  const int file = ::open("/proc/self/cmdline", O_RDONLY);
  const auto size = ::read(file, words, sizeof words - 1);
  ::close(file);
  for (int i = 0; i < size; ++i) {
    if (strcmp(words + i, "decode-isolated") != 0) continue;
    if (strcmp(decoder, "abort") == 0) abort();
    if (strcmp(decoder, "exit") == 0) _exit(0);
    if (strcmp(decoder, "spin") == 0) raise(SIGXCPU);
  }
}

const char* way_of(const char* call, const char* path) {
  if (inside || path == nullptr) return "";
  for (int i = 0; i < count; ++i) {
    Fault& fault = faults[i];
    if (strcmp(fault.call, call) != 0 || strstr(path, fault.path) == nullptr) continue;
    const int number = ++fault.calls;
    if (fault.lasts ? number >= fault.first : number == fault.first) return fault.way;
  }
  return "";
}

void happen(const char* way, const char* path) {
  inside = true;
  if (strcmp(way, "kill") == 0) raise(SIGKILL);
  if (strcmp(way, "truncate") == 0 && truncate(path, 100) != 0) perror(path);
  if (strcmp(way, "remove") == 0) unlink(path);
  if (strcmp(way, "replace") == 0) {
    const std::string other = std::string(path) + ".other";
    if (rename(other.c_str(), path) != 0) perror(path);
  }
  inside = false;
}

// 0: nothing fails.
int error_of(const char* call, const char* path, const char** way = nullptr) {
  const char* found = way_of(call, path);
  if (way != nullptr) *way = found;
  if (*found == '\0') return 0;
  for (const Name& error : errors) {
    if (strcmp(error.text, found) == 0) return error.error;
  }
  happen(found, path);
  return 0;
}

struct PathOf {
  explicit PathOf(int file) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const auto size = readlink(link, text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
  }
  char text[4096];
};

// A path as the file system of FAULTY_NAMES takes it.
struct Folded {
  explicit Folded(const char* path) {
    const char* folder = getenv("FAULTY_NAMES");
    name = path == nullptr ? "" : path;
    if (folder == nullptr || name.find(folder) == std::string::npos) return;
    for (auto i = name.rfind('/') + 1; i < name.size(); ++i) {
      if (name[i] >= 'A' && name[i] <= 'Z') name[i] = static_cast<char>(name[i] - 'A' + 'a');
      if (name.compare(i, 3, "e\xCC\x81") == 0) name.replace(i, 3, "\xC3\xA9");
    }
  }
  std::string name;
};

template <typename Result>
Result failed(int error) {
  errno = error;
  return static_cast<Result>(-1);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (const int error = error_of("open", path)) return failed<int>(error);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, Folded(path).name.c_str(), flags, mode));
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags | O_LARGEFILE, mode);
}

ssize_t read(int file, void* data, size_t size) {
  const PathOf path(file);
  const char* way = "";
  if (const int error = error_of("read", path.text, &way)) return failed<ssize_t>(error);
  return syscall(SYS_read, file, data, strcmp(way, "short") == 0 ? (size + 1) / 2 : size);
}
ssize_t pread64(int file, void* data, size_t size, off64_t at) {
  const PathOf path(file);
  if (const int error = error_of("read", path.text)) return failed<ssize_t>(error);
  return syscall(SYS_pread64, file, data, size, at);
}
ssize_t pread(int file, void* data, size_t size, off_t at) {
  return pread64(file, data, size, at);
}

ssize_t write(int file, const void* data, size_t size) {
  const PathOf path(file);
  const char* way = "";
  if (const int error = error_of("write", path.text, &way)) return failed<ssize_t>(error);
  return syscall(SYS_write, file, data, strcmp(way, "short") == 0 ? (size + 1) / 2 : size);
}
ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  const PathOf path(file);
  if (const int error = error_of("write", path.text)) return failed<ssize_t>(error);
  return syscall(SYS_pwrite64, file, data, size, at);
}
ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return pwrite64(file, data, size, at);
}

int rename(const char* from, const char* to) {
  const char* way = "";
  if (const int error = error_of("rename", to, &way)) return failed<int>(error);
  const auto result =
      static_cast<int>(syscall(SYS_rename, Folded(from).name.c_str(), Folded(to).name.c_str()));
  return strcmp(way, "lost") == 0 ? failed<int>(ENOENT) : result;
}

int unlink(const char* path) {
  if (const int error = error_of("unlink", path)) return failed<int>(error);
  return static_cast<int>(syscall(SYS_unlink, Folded(path).name.c_str()));
}

int stat(const char* path, struct stat* status) {
  return static_cast<int>(syscall(SYS_stat, Folded(path).name.c_str(), status));
}
int lstat(const char* path, struct stat* status) {
  return static_cast<int>(syscall(SYS_lstat, Folded(path).name.c_str(), status));
}

int link(const char* from, const char* to) {
  if (const int error = error_of("link", to)) return failed<int>(error);
  return static_cast<int>(syscall(SYS_link, from, to));
}

int fsync(int file) {
  const PathOf path(file);
  if (const int error = error_of("sync", path.text)) return failed<int>(error);
  return static_cast<int>(syscall(SYS_fsync, file));
}

int close(int file) {
  const PathOf path(file);
  const int error = count == 0 ? 0 : error_of("close", path.text);
  const auto result = static_cast<int>(syscall(SYS_close, file));
  return error != 0 ? failed<int>(error) : result;
}

int flock(int file, int operation) {
  const PathOf path(file);
  if (const int error = error_of("lock", path.text)) return failed<int>(error);
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

int clock_gettime(clockid_t clock, timespec* time) {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const char* moved = getenv("FAULTY_CLOCK");
  if (clock == CLOCK_REALTIME && moved != nullptr) time->tv_sec += atoi(moved);
  return result;
}

}  // extern "C"
