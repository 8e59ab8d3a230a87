/* SPDX-License-Identifier: MIT
 * What this machine's libstdc++.a, libgcc_eh.a and C libraries need of a newer glibc than the one that the prebuilt tools
 * are linked with (make_tools.sh adds it to libc_nonshared.a). The names are hidden: nothing else is linked with them. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.32. "No" is always right; it only costs atomic operations. */
HIDDEN char __libc_single_threaded = 0;

/* glibc 2.36. */
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getentropy(&value, sizeof value) != 0) abort();
  return value;
}

/* glibc 2.38: strtol and so on, which there also read binary numbers, as these do not. */
#define READ_AS(type, name)                                             \
  HIDDEN type __isoc23_##name(const char* text, char** end, int base) { \
    return name(text, end, base);                                       \
  }
READ_AS(long, strtol)
READ_AS(unsigned long, strtoul)
READ_AS(long long, strtoll)
READ_AS(unsigned long long, strtoull)

/* glibc 2.35: which object contains `address`, and where its table for unwinding is. */
struct dl_find_object {
  unsigned long long dlfo_flags;
  void* dlfo_map_start;
  void* dlfo_map_end;
  struct link_map* dlfo_link_map;
  void* dlfo_eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
  const struct search* search = data;
  uintptr_t first = UINTPTR_MAX, last = 0;
  int is_here = 0;
  void* table = NULL;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) table = (void*)begin;
    if (part->p_type != PT_LOAD) continue;
    if (begin < first) first = begin;
    if (end > last) last = end;
    is_here |= begin <= search->address && search->address < end;
  }
  if (!is_here || table == NULL) return 0;
  search->result->dlfo_flags = 0;
  search->result->dlfo_map_start = (void*)first;
  search->result->dlfo_map_end = (void*)last;
  search->result->dlfo_link_map = NULL;
  search->result->dlfo_eh_frame = table;
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
