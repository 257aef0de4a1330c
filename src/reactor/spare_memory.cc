#include "reactor/spare_memory.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

// jemalloc's, where it is linked.
extern "C" int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value,
                       size_t new_size) __attribute__((weak));

namespace denselet::reactor {
namespace {

constexpr unsigned kAllArenas = 4096;  // MALLCTL_ARENAS_ALL

void Tell(const char* what) {
  if (mallctl != nullptr) mallctl(what, nullptr, nullptr, nullptr, 0);
}

bool HasTextRelocations(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + part.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL) return true;
      if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
    }
  }
  return false;
}

// Parts that the loader made read-only after it wrote to them are in writable segments: those are
// left alone.
int UnmapObject(dl_phdr_info* object, size_t /*size*/, void* page_size) {
  const std::string_view name(object->dlpi_name == nullptr ? "" : object->dlpi_name);
  if (name.starts_with("linux-vdso") || HasTextRelocations(*object)) return 0;
  const uintptr_t mask = *static_cast<const uintptr_t*>(page_size) - 1;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = (object->dlpi_addr + part.p_vaddr) & ~mask;
    const uintptr_t end = (object->dlpi_addr + part.p_vaddr + part.p_memsz + mask) & ~mask;
    // Only a wish: what cannot be taken out stays.
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void EmptyThreadCache() { Tell("thread.tcache.flush"); }

void ReturnFreePages() {
  static const std::string kPurge = "arena." + std::to_string(kAllArenas) + ".purge";
  Tell(kPurge.c_str());
}

void UnmapProgram() {
  uintptr_t page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(UnmapObject, &page_size);
}

Duration CpuTimeUsed() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return Duration(Seconds(time.tv_sec)) + Duration(std::chrono::microseconds(time.tv_usec));
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace denselet::reactor
