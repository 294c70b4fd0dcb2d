/* The least a command can cost: posix_spawn with three pipes, 1 KB in, the answer out. Prints nanoseconds, one a line. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
  int runs = argc > 2 ? atoi(argv[1]) : 100;
  size_t ballast = 50u << 20;
  memset(malloc(ballast), 1, ballast);
  char input[1024], output[4096];
  memset(input, 'x', sizeof input);
  char *args[] = {"sh", "-c", argv[2], NULL};
  for (int i = 0; i < runs; i++) {
    long long begun = now();
    int in[2], out[2], err[2];
    pid_t pid;
    if (pipe(in) || pipe(out) || pipe(err)) return 1;
    posix_spawn_file_actions_t acts;
    posix_spawn_file_actions_init(&acts);
    posix_spawn_file_actions_adddup2(&acts, in[0], 0);
    posix_spawn_file_actions_adddup2(&acts, out[1], 1);
    posix_spawn_file_actions_adddup2(&acts, err[1], 2);
    int *ends[] = {in, out, err};
    for (int e = 0; e < 3; e++)
      for (int side = 0; side < 2; side++) posix_spawn_file_actions_addclose(&acts, ends[e][side]);
    if (posix_spawnp(&pid, "sh", &acts, NULL, args, environ)) return 1;
    posix_spawn_file_actions_destroy(&acts);
    close(in[0]), close(out[1]), close(err[1]);
    if (write(in[1], input, sizeof input) < 0) return 1;
    close(in[1]);
    while (read(out[0], output, sizeof output) > 0) {}
    while (read(err[0], output, sizeof output) > 0) {}
    close(out[0]), close(err[0]);
    waitpid(pid, NULL, 0);
    printf("%lld\n", now() - begun);
  }
  return 0;
}
