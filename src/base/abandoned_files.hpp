// Removes temporary files of AtomicFiles whose programs were killed.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace gpufilter {

// Whether a file of this name (without folder) is the temporary file of an AtomicFile.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// The process_token() in such a name; empty for other names, and for those of versions without
// tokens.
[[nodiscard]] std::string_view token_in_name(std::string_view name);

// Removes the temporary files in `folder`, and with `recursive` in its subfolders, whose writers
// have ended. A writer holds a lock on its file, which the system releases when the process ends
// for any reason, so this works across containers too, where process ids mean nothing. Folders and
// files that cannot be opened are skipped. Returns the number of files removed.
int remove_abandoned_files(const std::string& folder, bool recursive);

// Removes only files that were to become `target`, a path to a file.
int remove_abandoned_files_for(const std::string& target);

// Removes only the files of these processes, in all subfolders. On a file system without locks, the
// caller has to know that the processes have ended.
int remove_abandoned_files_of(const std::set<std::string, std::less<>>& tokens,
                              const std::string& folder);

}  // namespace gpufilter
