// What a file holds besides the picture that is read: pages, frames, a film, a gain map.
#pragma once

#include <string>
#include <vector>

namespace gpufilter {

// PictureHeader::unread, for a warning: "not read: 2 more pages"; empty if there is nothing.
[[nodiscard]] std::string unread_warning(const std::vector<std::string>& unread);

// Logs that warning about the file `name`, unless there is nothing to say. Quiet runs show it too.
void warn_of_unread(const std::string& name, const std::vector<std::string>& unread);

}  // namespace gpufilter
