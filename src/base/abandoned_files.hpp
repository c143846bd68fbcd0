// What programs that were killed left of their AtomicFiles.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace gpufilter {

// Whether a file of this name (without folder) is the temporary one of an AtomicFile.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// The process_token() in such a name; empty where it is another name, or that of a version before
// there were tokens.
[[nodiscard]] std::string_view token_in_name(std::string_view name);

// Removes the temporary files in `folder`, and in its subfolders where `recursive`, whose writers
// are gone. A writer holds a lock on its file, which the system lets go when the process ends
// however it does, so this works across containers too, where process ids say nothing. What cannot
// be looked into is left alone. How many were removed.
int remove_abandoned_files(const std::string& folder, bool recursive);

// The same for the files of these processes alone, in all subfolders. Where the file system does
// not keep locks, the caller has to know that the processes are gone.
int remove_abandoned_files_of(const std::set<std::string, std::less<>>& tokens,
                              const std::string& folder);

}  // namespace gpufilter
