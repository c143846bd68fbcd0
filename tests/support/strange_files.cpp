#include "support/strange_files.hpp"

#include <sys/socket.h>
#include <sys/un.h>

namespace gpufilter::test {
namespace {

void succeed(int result) {
  if (result < 0) throw std::system_error(errno, std::generic_category());
}

void make_socket(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& name = path.native();
  std::copy_n(name.begin(), std::min(name.size(), sizeof address.sun_path - 1), address.sun_path);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  succeed(descriptor);
  const int result =
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::close(descriptor);
  succeed(result);
}

void make_sparse(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  succeed(descriptor);
  ::close(descriptor);
  std::filesystem::resize_file(path, std::uintmax_t{5} << 30U);
}

}  // namespace

std::vector<StrangeFile> strange_files(int limit_mib) {
  using Path = std::filesystem::path;
  const std::string not_regular = "is not a regular file";
  return {
      {"pipe", [](const Path& path) { succeed(::mkfifo(path.c_str(), 0600)); }, not_regular},
      {"socket", make_socket, not_regular},
      {"folder", [](const Path& path) { std::filesystem::create_directory(path); }, "is a folder"},
      {"zeros", [](const Path& path) { std::filesystem::create_symlink("/dev/zero", path); },
       not_regular},
      {"sparse", make_sparse, "is larger than " + std::to_string(limit_mib) + " MiB"}};
}

Alarm::Alarm() {
  constexpr unsigned seconds = 60;
  ::alarm(seconds);
}

Alarm::~Alarm() {
  ::alarm(0);
}

}  // namespace gpufilter::test
