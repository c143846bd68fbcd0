#include "codec/tiff/library.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {

struct TiffFile::Client {
  TiffBytes bytes;
  std::uint64_t position = 0;
  std::exception_ptr thrown;
  std::array<char, 200>
      words{};  // libtiff's first error; a fixed array, as callbacks must not throw
};

// The result of `step`, or -1, a failure for libtiff, if it throws.
template <typename Step>
auto TiffFile::guarded(thandle_t handle, Step step) -> decltype(step(std::declval<Client&>())) {
  Client& client = *static_cast<Client*>(handle);
  try {
    return step(client);
  } catch (...) {
    if (!client.thrown) client.thrown = std::current_exception();
    return static_cast<decltype(step(client))>(-1);
  }
}

TiffFile::TiffFile(const std::string& name, const char* mode, TiffBytes bytes, std::string trouble,
                   std::uint64_t max_allocation)
    : name_(name),
      trouble_(std::move(trouble)),
      client_(new Client, [](Client* client) { delete client; }),
      tiff_(nullptr, libtiff().TIFFClose) {
  client_->bytes = std::move(bytes);
  const auto read = [](thandle_t handle, void* data, tmsize_t size) {
    return guarded(handle, [&](Client& client) {
      const std::span into(static_cast<std::uint8_t*>(data), static_cast<std::size_t>(size));
      const std::size_t count = client.bytes.read(client.position, into);
      client.position += count;
      return static_cast<tmsize_t>(count);
    });
  };
  const auto write = [](thandle_t handle, void* data, tmsize_t size) {
    return guarded(handle, [&](Client& client) {
      client.bytes.write(client.position,
                         {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)});
      client.position += static_cast<std::uint64_t>(size);
      return size;
    });
  };
  const auto seek = [](thandle_t handle, toff_t offset, int whence) {
    return guarded(handle, [&](Client& client) -> toff_t {
      const std::uint64_t from = whence == SEEK_SET   ? 0
                                 : whence == SEEK_CUR ? client.position
                                                      : client.bytes.size();
      return client.position = from + offset;
    });
  };
  const auto size = [](thandle_t handle) {
    return guarded(handle, [](Client& client) -> toff_t { return client.bytes.size(); });
  };
  const auto take_error = [](TIFF*, void* handle, const char*, const char* format, va_list list) {
    auto& words = static_cast<Client*>(handle)->words;
    if (words[0] == '\0') std::vsnprintf(words.data(), words.size(), format, list);
    return 1;
  };
  const auto ignore_warning = [](TIFF*, void*, const char*, const char*, va_list) { return 1; };
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(
      libtiff().TIFFOpenOptionsAlloc(), libtiff().TIFFOpenOptionsFree);
  libtiff().TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                                static_cast<tmsize_t>(max_allocation));
  libtiff().TIFFOpenOptionsSetErrorHandlerExtR(options.get(), take_error, client_.get());
  libtiff().TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, client_.get());
  tiff_.reset(libtiff().TIFFClientOpenExt(
      name.c_str(), mode, client_.get(), read, write, seek, [](thandle_t) { return 0; }, size,
      nullptr, nullptr, options.get()));
  check(tiff_ != nullptr);
}

void TiffFile::check(bool success) const {
  if (client_->thrown) std::rethrow_exception(client_->thrown);
  std::string_view words = client_->words.data();
  if (success && words.empty()) return;
  // Some of libtiff's messages begin with the name, as refuse() does.
  if (words.starts_with(name_ + ": ")) words.remove_prefix(name_.size() + 2);
  refuse(words.empty() ? "libtiff does not say why" : printable(words));
}

void TiffFile::refuse(const std::string& why) const {
  throw PictureError(name_, formatted("{}: {}", trouble_, why));
}

}  // namespace gpufilter
