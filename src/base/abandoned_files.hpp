// What programs that were killed left of their AtomicFiles.
#pragma once

#include <string>
#include <string_view>

namespace gpufilter {

// Whether a file of this name (without folder) is the temporary one of an AtomicFile.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// Removes the temporary files in `folder`, and in its subfolders where `recursive`, whose writers
// are gone. A writer holds a lock on its file, which the system lets go when the process ends
// however it does, so this works across containers too, where process ids say nothing. What cannot
// be looked into is left alone. How many were removed.
int remove_abandoned_files(const std::string& folder, bool recursive);

}  // namespace gpufilter
