/** Variables that make programs load code from a file which the analyser does not read. */
export const loadingVariables: ReadonlySet<string> = new Set([
  'DYLD_INSERT_LIBRARIES',
  'LD_AUDIT',
  'LD_PRELOAD',
  'PERL5OPT',
  'PYTHONSTARTUP',
  'RUBYOPT',
])

/** Variables that a shell expands before it prints them. */
export const promptVariables: ReadonlySet<string> = new Set(['PS0', 'PS1', 'PS2', 'PS4'])

/** Variables that name a script which a shell runs when it starts. */
export const scriptVariables: ReadonlySet<string> = new Set(['BASH_ENV', 'ENV'])

/** Variables whose value some program runs as a command. */
export const codeVariables: ReadonlySet<string> = new Set([
  'BROWSER',
  'EDITOR',
  'GIT_ASKPASS',
  'GIT_EDITOR',
  'GIT_EXTERNAL_DIFF',
  'GIT_PAGER',
  'GIT_PROXY_COMMAND',
  'GIT_SEQUENCE_EDITOR',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'LESSOPEN',
  'MANPAGER',
  'PAGER',
  'PROMPT_COMMAND',
  'SSH_ASKPASS',
  'SUDO_ASKPASS',
  'VISUAL',
])
