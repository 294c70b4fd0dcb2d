/*
 * Starts programs as a coding agent starts its hooks: three pipes, the payload in, the answer out, and waits for the end.
 * usage: client-spawn RUNS PAYLOAD program [argument …] [-- program [argument …]] …
 * One after another in turns, so that noise hits all alike. Prints nanoseconds, a line per turn, one column per program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
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

static long long once(char **program, const char *payload) {
  char output[4096];
  int in[2], out[2], err[2], status;
  pid_t pid;
  long long begun = now();
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) exit(1);
  posix_spawn_file_actions_t acts;
  posix_spawn_file_actions_init(&acts);
  posix_spawn_file_actions_adddup2(&acts, in[0], 0);
  posix_spawn_file_actions_adddup2(&acts, out[1], 1);
  posix_spawn_file_actions_adddup2(&acts, err[1], 2);
  if (posix_spawnp(&pid, program[0], &acts, NULL, program, environ)) exit(1);
  posix_spawn_file_actions_destroy(&acts);
  close(in[0]), close(out[1]), close(err[1]);
  /* A program may end without having read it. */
  if (write(in[1], payload, strlen(payload)) < 0) {}
  close(in[1]);
  while (read(out[0], output, sizeof output) > 0) {}
  while (read(err[0], output, sizeof output) > 0) {}
  close(out[0]), close(err[0]);
  waitpid(pid, &status, 0);
  long long taken = now() - begun;
  if (status != 0) {
    fprintf(stderr, "%s ended with %d\n", program[0], status);
    exit(1);
  }
  return taken;
}

int main(int argc, char **argv) {
  char **programs[16];
  int count = 0;
  if (argc < 4) return 1;
  signal(SIGPIPE, SIG_IGN);
  programs[count++] = argv + 3;
  for (int i = 3; i < argc && count < 16; i++)
    if (strcmp(argv[i], "--") == 0) {
      argv[i] = NULL;
      programs[count++] = argv + i + 1;
    }
  for (int run = 0; run < atoi(argv[1]); run++)
    for (int i = 0; i < count; i++) printf("%lld%c", once(programs[i], argv[2]), i + 1 < count ? ' ' : '\n');
  return 0;
}
