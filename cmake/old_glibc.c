/* What libstdc++, libgcc and the tool ask of a C library newer than 2.31, for BARRACUDA_SYSROOT (OldGlibc.cmake).
   Linked into each binary and exported by none. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* 2.32. libstdc++ counts references without atomics if it is set: never. */
char __libc_single_threaded = 0;

/* 2.36. For std::random_device. */
uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
    abort();
  }
  return value;
}

/* 2.34. Those files that are open now; nothing opens one between this and the start. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int from) {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == NULL) {
    return errno;
  }
  int error = 0;
  for (struct dirent* entry = readdir(folder); entry != NULL && error == 0; entry = readdir(folder)) {
    const int file = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && file >= from && file != dirfd(folder)) {
      error = posix_spawn_file_actions_addclose(actions, file);
    }
  }
  closedir(folder);
  return error;
}

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int look_into(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* const search = data;
  uintptr_t start = UINTPTR_MAX;
  uintptr_t end = 0;
  void* frames = NULL;
  int is_found = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const header = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + header->p_vaddr;
    const uintptr_t to = from + header->p_memsz;
    if (header->p_type == PT_LOAD) {
      is_found |= search->address >= from && search->address < to;
      start = from < start ? from : start;
      end = to > end ? to : end;
    } else if (header->p_type == PT_GNU_EH_FRAME) {
      frames = (void*)from;
    }
  }
  if (!is_found) {
    return 0;
  }
  search->result->dlfo_map_start = (void*)start;
  search->result->dlfo_map_end = (void*)end;
  search->result->dlfo_eh_frame = frames;
  return frames != NULL ? 1 : 2;
}

/* 2.35. For the unwinder: in which object an address lies, and where that object's frames are. */
int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
