/** Shell commands that each misbehave in one way, to test hooks that run them. */
export const badCommands = {
  /** Succeeds without output. */
  silent: 'cat >/dev/null',
  /** Never reads its stdin. */
  deaf: 'exit 0',
  sleepsForEver: 'sleep 3600',
  /** Ignores SIGTERM; only SIGKILL ends it. */
  ignoresTerm: "trap '' TERM; while :; do sleep 3600; done",
  /** Exits at once while a grandchild keeps stdout open. */
  leavesPipeHolder: 'sleep 3600 & echo {}',
  /** Waits for a grandchild that sleeps. */
  waitsForGrandchild: 'sleep 3600 & wait',
  /** Has a grandchild that ignores SIGTERM. */
  stubbornGrandchild: "(trap '' TERM; sleep 3600; sleep 3600) & wait",
  floodsStdout: 'yes',
  floodsStderr: 'yes >&2',
  exitsWithOne: 'echo broken >&2; exit 1',
  exitsWithTwo: 'echo forbidden >&2; exit 2',
  exitsWithThree: 'exit 3',
  blocksSilently: 'exit 2',
  notExecutable: '/etc/passwd',
  notThere: '/nowhere/at-all',
  killsItself: 'kill -KILL $$',
  crashes: 'kill -SEGV $$',
  speaksText: 'echo all is well',
  speaksHtml: 'echo "<html><body>502</body></html>"',
  speaksHalfJson: 'printf \'{"decision":\'',
  speaksTwice: 'echo \'{"decision":"block","decision":"allow"}\'',
  speaksBinary: "printf '\\377\\376\\033[31mred\\033[0m\\r\\n'",
} as const satisfies Record<string, string>
