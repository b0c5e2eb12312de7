/*
 * Stands between a process and its files (LD_PRELOAD): calls on files below OPENPO_FAULTS_DIR fail, write less than they were given, take
 * long, or say that they have synced and have not, as the control file OPENPO_FAULTS_CONTROL says at that moment.
 *
 * A line of the control file: CALL KIND HOW SHARE. CALL is write, sync, truncate, open, rename or unlink. KIND is wal, main (a database file), other or any. HOW
 * is ENOSPC, EIO, short, slow (200 ms), swallow, or die: the process is killed before the call. SHARE is how many of 1,000 such calls it happens to.
 *
 * With OPENPO_FAULTS_RECORD it also writes down every call that changes those files or syncs them, and the beginning of every answer over HTTP, in
 * the order in which they happened: each is made and written down under one lock. A sync is written down when it begins and when it has succeeded.
 * recording.ts reads that. `-shm` files and the lock of the directory are left out.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { descriptors_max = 65536, rules_max = 32, slow_ms = 200, path_bytes_max = 4096, answer_bytes_kept = 2048 };

struct rule {
  char call[16], kind[16], how[16];
  int share;
};

static struct rule rules[rules_max];
static int rule_count = 0;
static struct timespec read_at;
static ino_t read_inode = 0;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int seed = 1;
/* What each descriptor was opened for, NULL for nothing of ours, and which file it was. */
static const char *volatile kinds[descriptors_max];
static ino_t inodes[descriptors_max];

/* Before each record: what it is, which file, where in it, and how many bytes of path and content follow. */
struct header {
  uint64_t type, inode, offset;
  uint32_t path_bytes, bytes;
};

static int record = -1;
static uint64_t syncs = 0;
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(result, name, ...)                                  \
  static result (*real_##name)(__VA_ARGS__) = NULL;              \
  if (real_##name == NULL)                                       \
    *(void **)&real_##name = dlsym(RTLD_NEXT, #name);

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static const char *kind_of(const char *path) {
  const char *below = getenv("OPENPO_FAULTS_DIR");
  if (path == NULL || below == NULL || strncmp(path, below, strlen(below)) != 0) return NULL;
  if (ends_with(path, "-wal")) return "wal";
  if (ends_with(path, "lock.db") || ends_with(path, "lock.db-journal") || ends_with(path, "-shm")) return NULL;
  return ends_with(path, ".db") ? "main" : "other";
}

/*
 * libuv closes by a system call of its own, which nothing can stand before. So the number of a closed descriptor may be that of a socket by now:
 * it counts only while it still is that file.
 */
static const char *kind_at(int descriptor) {
  struct stat found;
  if (descriptor < 0 || descriptor >= descriptors_max || kinds[descriptor] == NULL) return NULL;
  int before = errno;
  int is_same = fstat(descriptor, &found) == 0 && !S_ISSOCK(found.st_mode) && found.st_ino == inodes[descriptor];
  errno = before;
  return is_same ? kinds[descriptor] : NULL;
}

/* Only under the lock. A record is whole: the process is killed under the lock too. */
static void note(char type, uint64_t inode, uint64_t offset, const char *path, const void *bytes, size_t count) {
  static ssize_t (*real_writev)(int, const struct iovec *, int) = NULL;
  if (record < 0) return;
  if (real_writev == NULL) *(void **)&real_writev = dlsym(RTLD_NEXT, "writev");
  int before = errno;
  struct header header = {(uint64_t)type, inode, offset, path == NULL ? 0 : (uint32_t)strlen(path), (uint32_t)count};
  struct iovec parts[3] = {{&header, sizeof header}, {(void *)path, header.path_bytes}, {(void *)bytes, count}};
  if (real_writev(record, parts, 3) != (ssize_t)(sizeof header + header.path_bytes + count)) abort();
  errno = before;
}

/* Whatever is between these is one step of the record. */
static void begin_step(void) {
  if (record >= 0) pthread_mutex_lock(&record_lock);
}

static void end_step(void) {
  if (record >= 0) pthread_mutex_unlock(&record_lock);
}

__attribute__((constructor)) static void begin_record(void) {
  const char *path = getenv("OPENPO_FAULTS_RECORD");
  if (path == NULL) return;
  record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (record < 0) abort();
  note('P', 0, 0, NULL, NULL, 0);
}

/* The path of an open file or folder. */
static const char *path_at(int descriptor, char *place) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, place, path_bytes_max - 1);
  place[length < 0 ? 0 : length] = 0;
  return place;
}

/* An answer over HTTP begins with these bytes: from now on it is acknowledged. */
static void note_answer(int descriptor, const void *bytes, size_t count) {
  struct stat found;
  if (record < 0 || count < 9 || memcmp(bytes, "HTTP/1.1 ", 9) != 0) return;
  int before = errno;
  int is_socket = fstat(descriptor, &found) == 0 && S_ISSOCK(found.st_mode);
  errno = before;
  if (is_socket) note('A', 0, 0, NULL, bytes, count < answer_bytes_kept ? count : answer_bytes_kept);
}

/* Reads the rules again if the file is another one: it is replaced as a whole. */
static void read_rules(void) {
  const char *path = getenv("OPENPO_FAULTS_CONTROL");
  struct stat found;
  if (path == NULL || stat(path, &found) != 0) {
    rule_count = 0;
    return;
  }
  if (found.st_ino == read_inode && found.st_mtim.tv_sec == read_at.tv_sec && found.st_mtim.tv_nsec == read_at.tv_nsec) return;
  FILE *file = fopen(path, "re");
  if (file == NULL) return;
  rule_count = 0;
  while (rule_count < rules_max) {
    struct rule *rule = &rules[rule_count];
    if (fscanf(file, "%15s %15s %15s %d", rule->call, rule->kind, rule->how, &rule->share) != 4) break;
    rule_count += 1;
  }
  fclose(file);
  read_inode = found.st_ino;
  read_at = found.st_mtim;
}

/* What happens to this call: NULL is nothing. */
static const char *fate(const char *call, const char *kind) {
  const char *how = NULL;
  if (kind == NULL) return NULL;
  int before = errno;
  pthread_mutex_lock(&lock);
  read_rules();
  for (int index = 0; index < rule_count && how == NULL; index += 1) {
    struct rule *rule = &rules[index];
    if (strcmp(rule->call, call) != 0) continue;
    if (strcmp(rule->kind, "any") != 0 && strcmp(rule->kind, kind) != 0) continue;
    if ((int)(rand_r(&seed) % 1000) < rule->share)
      how = strcmp(rule->how, "EIO") == 0      ? "EIO"
            : strcmp(rule->how, "ENOSPC") == 0 ? "ENOSPC"
            : strcmp(rule->how, "short") == 0  ? "short"
            : strcmp(rule->how, "slow") == 0   ? "slow"
            : strcmp(rule->how, "die") == 0    ? "die"
                                               : "swallow";
  }
  pthread_mutex_unlock(&lock);
  if (how != NULL && strcmp(how, "die") == 0) {
    begin_step();
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  errno = before;
  return how;
}

/* Whether the call is to fail; a slow one has waited then. */
static int fails(const char *how) {
  if (how == NULL) return 0;
  if (strcmp(how, "slow") == 0) {
    struct timespec pause = {slow_ms / 1000, (slow_ms % 1000) * 1000000L};
    nanosleep(&pause, NULL);
    return 0;
  }
  if (strcmp(how, "EIO") == 0) errno = EIO;
  else if (strcmp(how, "ENOSPC") == 0) errno = ENOSPC;
  else return 0;
  return 1;
}

static size_t granted(const char *how, size_t count) {
  return how != NULL && strcmp(how, "short") == 0 && count > 1 ? count / 2 : count;
}

static int opened(int descriptor, const char *kind) {
  struct stat found;
  if (descriptor < 0 || descriptor >= descriptors_max) return descriptor;
  kinds[descriptor] = NULL;
  if (kind == NULL || fstat(descriptor, &found) != 0) return descriptor;
  inodes[descriptor] = found.st_ino;
  kinds[descriptor] = kind;
  return descriptor;
}

#define OPEN(name)                                                          \
  int name(const char *path, int flags, ...) {                              \
    REAL(int, name, const char *, int, ...)                                 \
    va_list rest;                                                           \
    va_start(rest, flags);                                                  \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                           \
    const char *kind = kind_of(path);                                       \
    if ((flags & O_CREAT) != 0 && fails(fate("open", kind))) return -1;     \
    if (kind == NULL || (flags & (O_CREAT | O_TRUNC)) == 0)                 \
      return opened(real_##name(path, flags, mode), kind);                  \
    begin_step();                                                           \
    struct stat found;                                                      \
    int was_there = stat(path, &found) == 0;                                \
    int descriptor = opened(real_##name(path, flags, mode), kind);          \
    if (descriptor >= 0 && !was_there) note('O', inodes[descriptor], 0, path, NULL, 0);               \
    else if (descriptor >= 0 && (flags & O_TRUNC) != 0) note('T', inodes[descriptor], 0, NULL, NULL, 0); \
    end_step();                                                             \
    return descriptor;                                                      \
  }

OPEN(open)
OPEN(open64)

int openat(int directory, const char *path, int flags, ...) {
  REAL(int, openat, int, const char *, int, ...)
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (path[0] == '/' && (flags & (O_CREAT | O_TRUNC)) != 0) return open(path, flags, mode);
  const char *kind = kind_of(path);
  if ((flags & O_CREAT) != 0 && fails(fate("open", kind))) return -1;
  return opened(real_openat(directory, path, flags, mode), kind);
}

int close(int descriptor) {
  REAL(int, close, int)
  if (descriptor >= 0 && descriptor < descriptors_max) kinds[descriptor] = NULL;
  return real_close(descriptor);
}

/* What was written at the descriptor's place, which is behind it now. */
static void note_write(int descriptor, const struct iovec *parts, int count, ssize_t written, off_t offset) {
  if (record < 0 || written <= 0) return;
  if (offset < 0) offset = lseek(descriptor, 0, SEEK_CUR) - written;
  for (int index = 0; index < count && written > 0; index += 1) {
    size_t bytes = (size_t)written < parts[index].iov_len ? (size_t)written : parts[index].iov_len;
    if (bytes > 0) note('W', inodes[descriptor], (uint64_t)offset, NULL, parts[index].iov_base, bytes);
    offset += (off_t)bytes;
    written -= (ssize_t)bytes;
  }
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  REAL(ssize_t, write, int, const void *, size_t)
  const char *kind = kind_at(descriptor);
  if (kind == NULL && (count < 9 || memcmp(bytes, "HTTP/1.1 ", 9) != 0)) return real_write(descriptor, bytes, count);
  const char *how = fate("write", kind);
  if (fails(how)) return -1;
  begin_step();
  if (kind == NULL) note_answer(descriptor, bytes, count);
  struct iovec part = {(void *)bytes, granted(how, count)};
  ssize_t written = real_write(descriptor, bytes, part.iov_len);
  if (kind != NULL) note_write(descriptor, &part, 1, written, -1);
  end_step();
  return written;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int)
  const char *kind = kind_at(descriptor);
  if (fails(fate("write", kind))) return -1;
  begin_step();
  if (kind == NULL && count > 0) note_answer(descriptor, parts[0].iov_base, parts[0].iov_len);
  ssize_t written = real_writev(descriptor, parts, count);
  if (kind != NULL) note_write(descriptor, parts, count, written, -1);
  end_step();
  return written;
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  REAL(ssize_t, sendmsg, int, const struct msghdr *, int)
  begin_step();
  if (message->msg_iovlen > 0) note_answer(descriptor, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
  ssize_t sent = real_sendmsg(descriptor, message, flags);
  end_step();
  return sent;
}

#define PWRITE(name, offset_type)                                                        \
  ssize_t name(int descriptor, const void *bytes, size_t count, offset_type offset) {    \
    REAL(ssize_t, name, int, const void *, size_t, offset_type)                          \
    const char *kind = kind_at(descriptor);                                              \
    if (kind == NULL) return real_##name(descriptor, bytes, count, offset);              \
    const char *how = fate("write", kind);                                               \
    if (fails(how)) return -1;                                                           \
    begin_step();                                                                        \
    struct iovec part = {(void *)bytes, granted(how, count)};                            \
    ssize_t written = real_##name(descriptor, bytes, part.iov_len, offset);              \
    note_write(descriptor, &part, 1, written, (off_t)offset);                            \
    end_step();                                                                          \
    return written;                                                                      \
  }

PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

/* Returns what the end of the sync is to be written down with. */
static uint64_t note_sync(int descriptor) {
  char path[path_bytes_max];
  begin_step();
  uint64_t number = syncs += 1;
  note('B', inodes[descriptor], number, path_at(descriptor, path), NULL, 0);
  end_step();
  return number;
}

static int synced(int descriptor, uint64_t number, int result) {
  begin_step();
  if (result == 0) note('E', inodes[descriptor], number, NULL, NULL, 0);
  end_step();
  return result;
}

#define SYNC(name)                                                    \
  int name(int descriptor) {                                          \
    REAL(int, name, int)                                              \
    const char *kind = kind_at(descriptor);                           \
    if (kind == NULL) return real_##name(descriptor);                 \
    uint64_t number = record < 0 ? 0 : note_sync(descriptor);         \
    const char *how = fate("sync", kind);                             \
    if (fails(how)) return -1;                                        \
    if (how != NULL && strcmp(how, "swallow") == 0) return 0;         \
    return synced(descriptor, number, real_##name(descriptor));       \
  }

SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_type)                                   \
  int name(int descriptor, offset_type length) {                      \
    REAL(int, name, int, offset_type)                                 \
    const char *kind = kind_at(descriptor);                           \
    if (kind == NULL) return real_##name(descriptor, length);         \
    if (fails(fate("truncate", kind))) return -1;                     \
    begin_step();                                                     \
    int result = real_##name(descriptor, length);                     \
    if (result == 0) note('T', inodes[descriptor], (uint64_t)length, NULL, NULL, 0); \
    end_step();                                                       \
    return result;                                                    \
  }

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *)
  const char *kind = kind_of(from);
  if (kind == NULL) return real_rename(from, to);
  if (fails(fate("rename", kind))) return -1;
  begin_step();
  int result = real_rename(from, to);
  if (result == 0) note('R', 0, 0, from, to, strlen(to));
  end_step();
  return result;
}

/* Of a file (type U) or a folder (D). */
#define REMOVE(name, type)                                            \
  int name(const char *path) {                                        \
    REAL(int, name, const char *)                                     \
    const char *kind = kind_of(path);                                 \
    if (kind == NULL) return real_##name(path);                       \
    if (fails(fate("unlink", kind))) return -1;                       \
    begin_step();                                                     \
    int result = real_##name(path);                                   \
    if (result == 0) note(type, 0, 0, path, NULL, 0);                 \
    end_step();                                                       \
    return result;                                                    \
  }

REMOVE(unlink, 'U')
REMOVE(rmdir, 'D')
REMOVE(remove, 'U')

int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t)
  if (kind_of(path) == NULL) return real_mkdir(path, mode);
  begin_step();
  int result = real_mkdir(path, mode);
  if (result == 0) note('M', 0, 0, path, NULL, 0);
  end_step();
  return result;
}
