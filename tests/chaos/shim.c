/* A library preloaded into the server alone: sets its clock, and fails, loses or ends its journal's writes on order.
 *
 * Orders stand in a page that the harness maps too (control.py has the same fields in the same order). "Power loss"
 * spoils some of what was written and not synced, then ends the process: what a disk without power may leave. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct orders {
  int64_t clock_offset_s;                                /* of CLOCK_REALTIME */
  int64_t syncs, writes;                                 /* of the journal so far, by this server */
  int64_t die_before_sync, die_after_sync, die_in_write; /* at that count; 0: never */
  int64_t power_loss;                                    /* ... and as if the power had failed */
  int64_t seed;                                          /* of what a power loss spoils */
  int64_t disk_full;                                     /* writes find no space */
  int64_t sync_fails;                                    /* the next sync finds a failing disk */
  int64_t lose_write;                                    /* sabotage: at that count, not written */
  int64_t lie_about_sync;                                /* sabotage: said to be synced */
  int64_t step_monotonic;                                /* sabotage: of CLOCK_MONOTONIC too */
};

struct extent {
  int fd;
  int wal;
  off_t at;
  size_t size;
};
enum { EXTENTS_MAX = 1 << 15 };
static struct extent g_unsynced[EXTENTS_MAX]; /* guarded by g_mutex */
static size_t g_unsynced_count;
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct orders* g_orders;

static ssize_t (*real_pwrite)(int, const void*, size_t, off_t);
static int (*real_fdatasync)(int);
static int (*real_fsync)(int);
static int (*real_clock_gettime)(clockid_t, struct timespec*);

static void find_functions(void) {
  *(void**)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  *(void**)&real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  *(void**)&real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  *(void**)&real_fsync = dlsym(RTLD_NEXT, "fsync");
}

__attribute__((constructor)) static void start(void) {
  find_functions();
  const char* path = getenv("HONE_CHAOS_ORDERS");
  int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    void* page = mmap(NULL, sizeof *g_orders, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) g_orders = page;
    close(fd);
  }
  unsetenv("LD_PRELOAD"); /* the server's children are left alone */
  unsetenv("HONE_CHAOS_ORDERS");
}

/* 0: not of the journal, 1: the database, 2: its write-ahead log. */
static int journal_file(int fd) {
  char link[32] = "/proc/self/fd/", name[4096];
  char digits[12];
  int n = 0;
  for (int left = fd; n == 0 || left > 0; left /= 10) digits[n++] = (char)('0' + left % 10);
  for (int i = 0; i < n; ++i) link[14 + i] = digits[n - 1 - i];
  link[14 + n] = 0;
  const ssize_t size = readlink(link, name, sizeof name - 1);
  if (size < 0) return 0;
  name[size] = 0;
  const char* base = strrchr(name, '/');
  if (base == NULL) return 0;
  return strcmp(base, "/chaos.db") == 0 ? 1 : strcmp(base, "/chaos.db-wal") == 0 ? 2 : 0;
}

static void die(void) {
  if (g_orders->power_loss != 0 && g_unsynced_count < EXTENTS_MAX) {
    uint64_t random = (uint64_t)g_orders->seed * 2 + 1;
    for (size_t i = 0; i < g_unsynced_count; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if ((random >> 63) == 0) continue;
      char spoiled[512];
      memset(spoiled, (int)(random >> 40) & 0xff, sizeof spoiled);
      for (size_t done = 0; done < g_unsynced[i].size; done += sizeof spoiled) {
        const size_t left = g_unsynced[i].size - done;
        const size_t part = left < sizeof spoiled ? left : sizeof spoiled;
        if (real_pwrite(g_unsynced[i].fd, spoiled, part, g_unsynced[i].at + (off_t)done) < 0) break;
      }
    }
  }
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t at) {
  if (real_pwrite == NULL) find_functions();
  const int file = g_orders == NULL ? 0 : journal_file(fd);
  if (file == 0) return real_pwrite(fd, bytes, size, at);
  if (g_orders->disk_full != 0) {
    errno = ENOSPC;
    return -1;
  }
  pthread_mutex_lock(&g_mutex);
  const int64_t number = ++g_orders->writes;
  if (number == g_orders->die_in_write) {
    (void)!real_pwrite(fd, bytes, size / 2, at); /* torn */
    die();
  }
  if (g_unsynced_count < EXTENTS_MAX) {
    g_unsynced[g_unsynced_count++] = (struct extent){fd, file, at, size};
  }
  /* Not before a whole page of the log comes: a lost header alone would be written again. */
  const int lost =
      file == 2 && g_orders->lose_write != 0 && number >= g_orders->lose_write && size >= 4096;
  if (lost) g_orders->lose_write = 0;
  const ssize_t written = lost ? (ssize_t)size : real_pwrite(fd, bytes, size, at);
  pthread_mutex_unlock(&g_mutex);
  return written;
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  return pwrite64(fd, bytes, size, at);
}

static void forget(int file) {
  size_t kept = 0;
  for (size_t i = 0; i < g_unsynced_count; ++i) {
    if (g_unsynced[i].wal != file) g_unsynced[kept++] = g_unsynced[i];
  }
  g_unsynced_count = kept;
}

static int sync_with(int (*real)(int), int fd) {
  const int file = g_orders == NULL ? 0 : journal_file(fd);
  if (file == 0) return real(fd);
  if (g_orders->sync_fails != 0) {
    g_orders->sync_fails = 0;
    errno = EIO;
    return -1;
  }
  pthread_mutex_lock(&g_mutex);
  const int64_t number = ++g_orders->syncs;
  if (number == g_orders->die_before_sync) die();
  int result = 0;
  if (g_orders->lie_about_sync == 0) {
    result = real(fd);
    if (result == 0) forget(file);
  }
  if (number == g_orders->die_after_sync) die();
  pthread_mutex_unlock(&g_mutex);
  return result;
}
int fdatasync(int fd) {
  if (real_fdatasync == NULL) find_functions();
  return sync_with(real_fdatasync, fd);
}
int fsync(int fd) {
  if (real_fsync == NULL) find_functions();
  return sync_with(real_fsync, fd);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  if (real_clock_gettime == NULL) find_functions();
  const int result = real_clock_gettime(clock, now);
  if (result == 0 && g_orders != NULL &&
      (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
       (clock == CLOCK_MONOTONIC && g_orders->step_monotonic != 0))) {
    now->tv_sec += (time_t)g_orders->clock_offset_s;
  }
  return result;
}
int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}
time_t time(time_t* into) {
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  if (into != NULL) *into = precise.tv_sec;
  return precise.tv_sec;
}
