#include "support/kernel_folder.hpp"

namespace gpufilter::test {

void copy_kernels(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(GPUFILTER_SOURCE "/kernels")) {
    if (entry.is_regular_file()) {
      std::filesystem::copy_file(entry.path(), folder / entry.path().filename(),
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }
}

KernelFolder::KernelFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
  copy_kernels(folder_);
}

void KernelFolder::replace(const std::string& file, const std::string& before,
                           const std::string& after) const {
  const std::string path = folder_ / file;
  std::string text = read_file(path);
  const std::size_t place = text.find(before);
  ASSERT_NE(place, std::string::npos) << file << ": " << before;
  ASSERT_EQ(text.find(before, place + 1), std::string::npos) << file << ": " << before;
  write_file(path, text.replace(place, before.size(), after));
}

void KernelFolder::write(const std::string& file, const std::string& text) const {
  write_file(folder_ / file, text);
}

}  // namespace gpufilter::test
