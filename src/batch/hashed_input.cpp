#include "batch/hashed_input.hpp"

#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace gpufilter {

// The opened file, and the hash of what was read of it. Outlives the decoder, which may drop its
// source as soon as it has the last pixel.
class HashedInput::Hashed {
 public:
  explicit Hashed(std::unique_ptr<ByteSource> file) : file_(std::move(file)) {}

  [[nodiscard]] ByteSource& file() { return *file_; }

  std::size_t read(std::span<std::uint8_t> buffer) {
    const std::size_t count = file_->read(buffer);
    hasher_.add(buffer.first(count));
    return count;
  }

  [[nodiscard]] ContentHash hash_to_the_end() {
    constexpr std::size_t step = std::size_t{256} << 10U;
    std::vector<std::uint8_t> rest(step);
    while (read(rest) == rest.size()) {
    }
    return hasher_.result();
  }

 private:
  std::unique_ptr<ByteSource> file_;
  ContentHasher hasher_;
};

// What the decoder reads from.
class HashedInput::Source final : public ByteSource {
 public:
  explicit Source(std::shared_ptr<Hashed> hashed) : hashed_(std::move(hashed)) {}

  [[nodiscard]] const std::string& name() const override { return hashed_->file().name(); }
  std::size_t read(std::span<std::uint8_t> buffer) override { return hashed_->read(buffer); }
  std::span<const std::uint8_t> peek(std::size_t count) override {
    return hashed_->file().peek(count);
  }
  [[nodiscard]] std::optional<std::uint64_t> size() const override {
    return hashed_->file().size();
  }
  // Not hashed: content() reads what has not been read front to back.
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> buffer) override {
    return hashed_->file().read_at(offset, buffer);
  }

 private:
  std::shared_ptr<Hashed> hashed_;
};

HashedInput::HashedInput(std::string path)
    : path_(std::move(path)), content_(unread_content(path_)) {}
HashedInput::~HashedInput() = default;

std::unique_ptr<ByteSource> HashedInput::open() {
  hashed_ = std::make_shared<Hashed>(open_source(path_));
  return std::make_unique<Source>(hashed_);
}

FileContent HashedInput::content() {
  if (!hashed_) throw std::logic_error("the input was not opened");
  content_.hash = hashed_->hash_to_the_end();
  const auto after = stamp_of(path_);
  if (after && !after->same_content(content_.stamp)) {
    throw PictureError(path_, "it changed while it was being read");
  }
  return content_;
}

}  // namespace gpufilter
