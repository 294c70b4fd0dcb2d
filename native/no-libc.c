/*
 * The C library of hookhelm-hook on Linux x86-64, where it can be built without one.
 *
 * Starting is most of the client's cost, and most of that is the start of the C library: it queries the features of
 * the processor, which is slow in a virtual machine, and sets up much that the client never uses. Each function here
 * is one system call, or the simplest loop that does what its manual page says.
 *
 * Everywhere else, and with -fsanitize, hookhelm-hook.c is linked with the system's library instead.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if !defined(__linux__) || !defined(__x86_64__)
#error "for Linux on x86-64 only; link with the C library instead"
#endif

/* ---- Start and end ---- */

int main(int count, char **words, char **environment);

/* The stack protector's canary. */
uintptr_t __stack_chk_guard;

/* The kernel loads the program at a random address, so relocations must be applied. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

static void tell_addresses(void) {
  uintptr_t base = (uintptr_t)__ehdr_start, table = 0, size = 0;
  for (const Elf64_Dyn *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_RELA) table = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) size = entry->d_un.d_val;
  }
  for (uintptr_t at = table; at < table + size; at += sizeof(Elf64_Rela)) {
    const Elf64_Rela *one = (const Elf64_Rela *)at;
    *(uintptr_t *)(base + one->r_offset) = base + (uintptr_t)one->r_addend;
  }
}

__attribute__((used, noreturn)) void start(uintptr_t *stack) {
  tell_addresses();
  uintptr_t count = stack[0];
  uintptr_t *environment = stack + 1 + count + 1, *at = environment;
  while (*at != 0) at++;
  /* The auxiliary vector follows. One entry points at random bytes. */
  for (at++; at[0] != AT_NULL; at += 2)
    if (at[0] == AT_RANDOM) __stack_chk_guard = *(uintptr_t *)at[1];
  _exit(main((int)count, (char **)(stack + 1), (char **)environment));
}

__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call start\n");

__attribute__((noreturn)) void __stack_chk_fail(void) {
  /* The client has a handler for SIGABRT. */
  kill(getpid(), SIGABRT);
  _exit(2);
}

/* ---- System calls ---- */

static int last_error;
int *__errno_location(void) { return &last_error; }

static long ask(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long answer;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  if (answer >= 0 || answer < -4095) return answer;
  last_error = (int)-answer;
  return -1;
}

#define ASK0(name) ask(SYS_##name, 0, 0, 0, 0, 0, 0)
#define ASK1(name, a) ask(SYS_##name, (long)(a), 0, 0, 0, 0, 0)
#define ASK2(name, a, b) ask(SYS_##name, (long)(a), (long)(b), 0, 0, 0, 0)
#define ASK3(name, a, b, c) ask(SYS_##name, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define ASK4(name, a, b, c, d) ask(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define ASK5(name, a, b, c, d, e) ask(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

void _exit(int code) {
  for (;;) ASK1(exit_group, code);
}

int kill(pid_t process, int number) { return (int)ASK2(kill, process, number); }
pid_t getpid(void) { return (pid_t)ASK0(getpid); }
pid_t getppid(void) { return (pid_t)ASK0(getppid); }
uid_t geteuid(void) { return (uid_t)ASK0(geteuid); }

ssize_t read(int file, void *into, size_t room) { return ASK3(read, file, into, room); }
ssize_t write(int file, const void *bytes, size_t count) { return ASK3(write, file, bytes, count); }
int close(int file) { return (int)ASK1(close, file); }
int fsync(int file) { return (int)ASK1(fsync, file); }
int mkdir(const char *path, mode_t mode) { return (int)ASK2(mkdir, path, mode); }
int unlinkat(int directory, const char *path, int flags) { return (int)ASK3(unlinkat, directory, path, flags); }
int poll(struct pollfd *files, nfds_t count, int ms) { return (int)ASK3(poll, files, count, ms); }

ssize_t getdents64(int directory, void *into, size_t room) { return ASK3(getdents64, directory, into, room); }

int renameat(int from_directory, const char *from, int to_directory, const char *to) {
  return (int)ASK4(renameat, from_directory, from, to_directory, to);
}

int openat(int directory, const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return (int)ASK4(openat, directory, path, flags, mode);
}

/* Never creates a file here. */
int open(const char *path, int flags, ...) { return (int)ASK4(openat, AT_FDCWD, path, flags, 0); }

/* Only used with F_GETFD, which has no argument. */
int fcntl(int file, int what, ...) { return (int)ASK2(fcntl, file, what); }

int socket(int family, int type, int protocol) { return (int)ASK3(socket, family, type, protocol); }
int connect(int file, const struct sockaddr *to, socklen_t size) { return (int)ASK3(connect, file, to, size); }

ssize_t send(int file, const void *bytes, size_t count, int flags) {
  return ask(SYS_sendto, file, (long)bytes, (long)count, flags, 0, 0);
}

int getsockopt(int file, int level, int name, void *value, socklen_t *size) {
  return (int)ASK5(getsockopt, file, level, name, value, size);
}

void *mmap(void *at, size_t size, int allowed, int flags, int file, off_t offset) {
  return (void *)ask(SYS_mmap, (long)at, (long)size, allowed, flags, file, offset);
}

int clock_gettime(clockid_t clock, struct timespec *now) { return (int)ASK2(clock_gettime, clock, now); }

int getitimer(__itimer_which_t which, struct itimerval *value) { return (int)ASK2(getitimer, which, value); }

int setitimer(__itimer_which_t which, const struct itimerval *value, struct itimerval *old) {
  return (int)ASK3(setitimer, which, value, old);
}

/* ---- Signals ---- */

/* The kernel has 64 signals, one bit each. The library's sets have room for more. */
#define SET_BYTES 8

int sigemptyset(sigset_t *set) {
  memset(set, 0, sizeof *set);
  return 0;
}

int sigaddset(sigset_t *set, int number) {
  set->__val[0] |= 1ul << (number - 1);
  return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  return (int)ASK4(rt_sigprocmask, how, set, old, SET_BYTES);
}

int sigaltstack(const stack_t *stack, stack_t *old) { return (int)ASK2(sigaltstack, stack, old); }

/* The return address of a handler. The kernel requires it, although no handler of ours returns. */
void after_handler(void);
__asm__(
    "after_handler:\n"
    "  mov $15, %eax\n"
    "  syscall\n");

int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  (void)old;
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } asked = {action->sa_handler, (unsigned)action->sa_flags | 0x04000000u, after_handler, action->sa_mask.__val[0]};
  return (int)ASK4(rt_sigaction, number, &asked, 0, SET_BYTES);
}

/* ---- Bytes ---- */

/* Keeps the compiler from replacing these loops by calls of these functions. */
#define PLAIN_LOOP __asm__ volatile("" ::: "memory")

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  void *start = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  return start;
}

void *memset(void *to, int value, size_t count) {
  void *start = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
  return start;
}

/* Copies downwards only: the client only moves the rest of a buffer to its front. */
void *memmove(void *to, const void *from, size_t count) {
  if ((uintptr_t)to <= (uintptr_t)from) return memcpy(to, from, count);
  for (unsigned char *t = to; count-- > 0;) {
    PLAIN_LOOP;
    t[count] = ((const unsigned char *)from)[count];
  }
  return to;
}

int memcmp(const void *left, const void *right, size_t count) {
  const unsigned char *l = left, *r = right;
  for (; count > 0; l++, r++, count--) {
    PLAIN_LOOP;
    if (*l != *r) return *l - *r;
  }
  return 0;
}

void *memchr(const void *bytes, int wanted, size_t count) {
  const unsigned char *at = bytes;
  for (; count > 0; at++, count--) {
    PLAIN_LOOP;
    if (*at == (unsigned char)wanted) return (void *)(uintptr_t)at;
  }
  return NULL;
}

size_t strlen(const char *text) {
  size_t length = 0;
  for (; text[length] != '\0'; length++) PLAIN_LOOP;
  return length;
}

size_t strnlen(const char *text, size_t most) {
  size_t length = 0;
  for (; length < most && text[length] != '\0'; length++) PLAIN_LOOP;
  return length;
}

int strcmp(const char *left, const char *right) {
  for (; *left == *right && *left != '\0'; left++, right++) PLAIN_LOOP;
  return (unsigned char)*left - (unsigned char)*right;
}
