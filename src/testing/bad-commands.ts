/** Commands that misbehave, each in one way, to show what becomes of a hook that runs them. */
export const badCommands = {
  /** Ends well and says nothing. */
  silent: 'cat >/dev/null',
  /** Never reads its stdin. */
  deaf: 'exit 0',
  sleepsForEver: 'sleep 3600',
  /** Asked to end, it goes on; only SIGKILL helps. */
  ignoresTerm: "trap '' TERM; while :; do sleep 3600; done",
  /** Ends at once, while a grandchild holds its stdout. */
  leavesPipeHolder: 'sleep 3600 & echo {}',
  /** Waits for a grandchild that would outlive it. */
  waitsForGrandchild: 'sleep 3600 & wait',
  /** A grandchild that cannot be asked to end. */
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
