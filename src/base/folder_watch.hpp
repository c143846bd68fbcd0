// Notices changes in a folder, by inotify. On network file systems it hears nothing of what other
// machines do, so look at the folder now and then as well.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "base/files.hpp"

namespace gpufilter {

class FolderWatch {
 public:
  // Throws std::system_error if the system allows no more watches.
  FolderWatch();

  // Watches the folder; `recursive`: also all folders below it. Folders that are watched already
  // stay so. Throws std::system_error.
  void add(const std::string& folder, bool recursive);

  // Returns after `longest`, or earlier once something has changed and then nothing for `quiet`.
  void wait(std::chrono::milliseconds longest, std::chrono::milliseconds quiet);

  // Whether a program has written to the file and not closed it since, as far as is known.
  [[nodiscard]] bool is_being_written(const std::string& path) const;

 private:
  void add_one(const std::string& folder);
  void read_events();

  FileDescriptor notifier_;
  std::map<int, std::string> folders_;  // by watch
  std::set<std::string> written_;
};

}  // namespace gpufilter
