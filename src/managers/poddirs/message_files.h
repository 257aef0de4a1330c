// The files that containers write their termination messages to, taken away one by one: they are
// there of every pod, and no mount table has to be read to know that they are ours.
#pragma once

#include <string>
#include <string_view>

#include "base/context.h"
#include "base/unique_function.h"
#include "reactor/api/file_system.h"

namespace denselet::managers {

// Eight hexadecimal digits, as the kubelet names them, too.
bool IsMessageFile(const reactor::DirectoryEntry& entry);

// <folder>/<container>/<8 hex digits>, and the directories, if nothing else is in them. What cannot
// be removed stays, whatever it is: whoever goes on finds it.
void RemoveMessageFiles(reactor::FileSystem& files, const Context& context, std::string folder,
                        UniqueFunction<void()> done);

}  // namespace denselet::managers
