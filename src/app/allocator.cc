// Part of every program that has jemalloc (denselet_program). The default is four arenas for each
// CPU and caches of large blocks for each thread, which is for servers that do nothing but
// allocate: here two arenas cost no time that could be measured, and a third less memory.
//
// What is freed goes back to the kernel little by little, over ten seconds: a list of all pods
// frees some megabytes that the next one takes again, a second later where the runtime has no
// events.
#include <jemalloc/jemalloc.h>

const char* malloc_conf = "narenas:2,lg_tcache_max:12,dirty_decay_ms:10000,muzzy_decay_ms:0";
