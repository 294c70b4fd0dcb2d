import { recordFile } from '../evaluate/resolve-path.ts'
import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { forkState } from '../evaluate/shell-state.ts'
import { describeField, describeText, exactField, fieldText, isFieldKnown } from '../expand/shell-text.ts'
import { isBuildTool, runBuildTool } from './build-tools.ts'
import { runScriptFile } from './interpreters.ts'
import { hasOption, optionValues, parseOptions, sliceField } from './parse-options.ts'
import { optionsOf, readSpec } from './program-options.ts'
import { childState, runCodeOf } from './run-wrapper.ts'

/** Options of programs whose value is a command. The programs do much else, so their other options need no table. */
const optionCode: Readonly<Record<string, string>> = {
  ansible: 'args=a:',
  ack: 'pager:',
  bat: 'pager:',
  go: '- exec: toolexec:',
  nano: 'speller=s:',
  nc: 'exec=e: sh-exec=c: c:',
  pandoc: 'filter=F:',
  scp: 'S:',
  sftp: 'S:',
  sort: 'compress-program:',
  split: 'filter:',
  sshfs: 'ssh_command:',
  svn: 'editor-cmd: diff-cmd: diff3-cmd:',
  zip: 'TT: unzip-command=TT:',
}

const optionCodeOf: Readonly<Record<string, string>> = {
  ncat: 'nc',
  netcat: 'nc',
  gsort: 'sort',
  pico: 'nano',
}

/** Programs that get code by their input or in a form of their own. */
const ownCode: Readonly<Record<string, (invocation: Invocation, texts: readonly string[]) => void>> = {
  at: runJob,
  batch: runJob,
  bwrap: ({ frame, at }) =>
    frame.run.record.addOpaque(
      'option',
      'which command bwrap runs depends on options that are not known',
      at,
    ),
  crontab({ frame, at }, texts) {
    if (!texts.some((text) => /^-[lre]$/.test(text)))
      frame.run.record.addOpaque('code', 'crontab installs commands that run later', at)
  },
  deno(invocation, texts) {
    if (texts[0] === 'task' && texts.includes('--eval'))
      runCodeOf(invocation, fieldText(invocation.args.at(-1) ?? []))
  },
  fzf: runBindings,
  gdb: runDebugger,
  less(invocation, texts) {
    for (const text of texts) if (/^\+!./.test(text)) runCodeOf(invocation, [text.slice(2)])
  },
  'run-parts': ({ frame, at }) =>
    frame.run.record.addOpaque('script', 'run-parts runs the scripts of a folder', at),
  screen(invocation, texts) {
    if (texts.some((text) => /^-\w*X$/.test(text)) && texts.some((text) => /^(stuff|exec)$/.test(text)))
      runCodeOf(invocation, fieldText(invocation.args.at(-1) ?? []))
  },
  script: recordTypescript,
  scp: runSshOptions,
  sftp: runSshOptions,
  sk: runBindings,
  socat: runSocat,
  ssh: runSshOptions,
  rails: runRunner,
  tmux: runTmuxCommands,
  vi: runEditor,
}

const editors = /^(?:r?g?vim?|nvim|ex|r?view|vimdiff|gvimdiff|nvimdiff|ed|red)$/

/** Code and scripts that some programs get by an option or by their input. */
export function recordOwnCode(invocation: Invocation): void {
  const { program } = invocation
  const texts = invocation.args.map(describeField)
  const name = editors.test(program) ? 'vi' : program
  if (Object.hasOwn(ownCode, name)) ownCode[name]?.(invocation, texts)
  runBuildTool(invocation, texts)
  runOptionCode(invocation)
  runDatabaseEscapes(invocation, texts)
}

/** Whether this table says what a program does with its input. */
export function hasOwnCode(program: string): boolean {
  return Object.hasOwn(ownCode, program) || isBuildTool(program) || Object.hasOwn(databaseEscapes, program)
}

/** Commands of gdb with which it only looks at the program. */
const debuggerCommands =
  /^(?:run|r|start|bt|backtrace|where|info|continue|c|next|n|step|s|finish|quit|q|break|b|tbreak|watch|frame|f|up|down|list|l|disassemble|x\/|thread|set (?:args|pagination|confirm|width|height|breakpoint|print)|print|p|display)\b/

function runDebugger(invocation: Invocation, texts: readonly string[]): void {
  const { args, state, frame, at } = invocation
  if (texts.some((text) => /^(?:-x|--command)/.test(text)))
    frame.run.record.addOpaque('script', 'gdb runs a script that may run commands', at)
  const { options } = parseOptions(args, readSpec('- ex: eval-command=ex: iex=ex: init-eval-command=ex:'))
  for (const command of optionValues(options, 'ex'))
    if (!isFieldKnown(command) || !debuggerCommands.test(describeField(command)))
      frame.run.record.addOpaque('inline-code', 'gdb runs commands that the line contains', at)
  const start = texts.indexOf('--args')
  if (start !== -1)
    frame.run.runWords(args.slice(start + 1), forkState(state), {
      ...viaStep(frame, 'gdb'),
      depth: frame.depth + 1,
    })
}

/** A key or a hook of tmux gets a command of tmux as one word. */
function runTmuxCommands(invocation: Invocation, texts: readonly string[]): void {
  for (const text of texts)
    if (
      /^(?:run|run-shell|if-shell|new-window|neww|split-window|splitw|display-popup|popup|respawn-pane|pipe-pane)\s/.test(
        text,
      )
    )
      runCodeOf(invocation, [`tmux ${text}`])
}

/** `rails runner` gets a file or code. */
function runRunner({ frame, at }: Invocation, texts: readonly string[]): void {
  const [, code] = texts.filter((text) => !text.startsWith('-'))
  if (/^(?:runner|r)$/.test(texts[0] ?? '') && code !== undefined && !/^[\w./-]+$/.test(code))
    frame.run.record.addOpaque('inline-code', 'rails runs code in ruby', at)
}

function runEditor(invocation: Invocation, texts: readonly string[]): void {
  const { program, frame, at } = invocation
  const input = frame.stdin === undefined ? [] : describeText(frame.stdin).split('\n')
  for (const text of [...texts, ...input]) {
    const code = /^(?:\+|:)*!\s*(.+)/.exec(text)?.[1]
    if (code !== undefined) runCodeOf(invocation, [code])
  }
  if (frame.stdin !== undefined || texts.some((text) => /^(-c|--cmd|-S|-s|\+.)/.test(text)))
    frame.run.record.addOpaque('inline-code', `${program} runs editor commands that the line contains`, at)
}

/** `at now` reads code from its input, `at -f` from a file. */
function runJob(invocation: Invocation): void {
  const { program, args, frame, state, at } = invocation
  const { stdin, ...rest } = frame
  const inside = { ...viaStep(rest, program), depth: frame.depth + 1, at }
  const [file] = optionValues(parseOptions(args, readSpec('f: q: t:')).options, 'f')
  if (file) runScriptFile(file, childState(state), inside)
  else if (stdin !== undefined) frame.run.runCode(stdin, childState(state), inside)
}

/** Clients of databases and file servers run shell code after an escape, and write or read files by commands of their own. */
const databaseEscapes: Readonly<
  Record<string, { readonly code: RegExp; readonly writes?: RegExp; readonly reads?: RegExp }>
> = {
  sqlite3: {
    code: /^\s*\.(?:shell|system)\s+(.+)/m,
    writes: /^\s*\.(?:output|once|dump|backup|save|log)\s+(\S+)|\bwritefile\(\s*'([^']+)'/im,
    reads: /^\s*\.(?:read|import)\s+(\S+)|\breadfile\(\s*'([^']+)'/im,
  },
  psql: {
    code: /\\!\s*(.+)/m,
    writes: /\\(?:o|g|out)\s+(\S+)|\\copy\s.*\sto\s+'?([^\s']+)/im,
    reads: /\\i\s+(\S+)|\\copy\s.*\sfrom\s+'?([^\s']+)/im,
  },
  mysql: {
    code: /(?:^\s*system\s|\\!)\s*(.+)/m,
    writes: /\binto\s+(?:out|dump)file\s+'([^']+)/i,
    reads: /\bsource\s+(\S+)/m,
  },
  lftp: { code: /(?:^|;)\s*!\s*(.+)/m },
  ftp: { code: /^\s*!\s*(.+)/m },
  sftp: { code: /^\s*!\s*(.+)/m, reads: /^\s*put\s+(?:-\w+\s+)*(\S+)/m },
  dc: { code: /^\s*!\s*(.+)/m },
  telnet: { code: /^\s*!\s*(.+)/m },
  gdb: { code: /^\s*(?:!|shell\s)\s*(.+)/m },
  mail: { code: /^~!\s*(.+)/m },
}

const escapesOf: Readonly<Record<string, string>> = {
  mariadb: 'mysql',
  pgcli: 'psql',
  duckdb: 'sqlite3',
  litecli: 'sqlite3',
  mailx: 'mail',
}

function runDatabaseEscapes(invocation: Invocation, texts: readonly string[]): void {
  const { program, frame, state, at } = invocation
  const name = escapesOf[program] ?? program
  const escapes = Object.hasOwn(databaseEscapes, name) ? databaseEscapes[name] : undefined
  if (escapes === undefined) return
  const record = recordFile(state, frame)
  for (const text of [...texts, ...(frame.stdin === undefined ? [] : [describeText(frame.stdin)])]) {
    const [code, written, read] = [escapes.code, escapes.writes, escapes.reads].map((pattern) =>
      pattern
        ?.exec(text)
        ?.slice(1)
        .find((found) => found !== undefined),
    )
    if (code !== undefined) runCodeOf(invocation, [code])
    if (written !== undefined) record('writes', { field: exactField(written), by: program, at })
    if (read !== undefined) record('reads', { field: exactField(read), by: program, at })
    if (/\b(?:from|to)\s+program\s+'/i.test(text))
      frame.run.record.addOpaque('inline-code', `${program} lets the database run a program`, at)
  }
}

/** Runs the values of options that are code. */
function runOptionCode(invocation: Invocation): void {
  const name = optionCodeOf[invocation.program] ?? invocation.program
  const row = Object.hasOwn(optionCode, name) ? optionCode[name] : undefined
  if (row === undefined) return
  const code = readSpec(row)
  const all = optionsOf(name)
  const spec = {
    ...code,
    names: new Map([...all.names, ...code.names]),
    values: new Set([...all.values, ...code.values]),
  }
  const { options } = parseOptions(invocation.args, spec)
  for (const { name: option, value } of options)
    if (value && code.values.has(option)) runCodeOf(invocation, fieldText(value))
}

/** `--preview 'code'`, and `--bind 'key:execute(code)'`. */
function runBindings(invocation: Invocation): void {
  const { options } = parseOptions(invocation.args, readSpec('preview: bind: cmd=c:'))
  for (const code of optionValues(options, 'preview', 'c')) runCodeOf(invocation, fieldText(code))
  for (const binding of optionValues(options, 'bind'))
    for (const [, code = ''] of describeField(binding).matchAll(
      /(?:execute[\w-]*|become|reload[\w-]*)[(:]([^)]*)/g,
    ))
      runCodeOf(invocation, [code])
}

/** `EXEC:program,options` and `SYSTEM:code,options` are addresses of socat; so are files. */
function runSocat(invocation: Invocation): void {
  const { args, state, frame, at } = invocation
  const record = recordFile(state, frame)
  for (const arg of args) {
    const address = describeField(arg)
    const [start = '', kind = ''] = /^(\w+):/.exec(address) ?? []
    const value = sliceField(arg, start.length)
    if (/^(?:exec|system|shell)$/i.test(kind)) {
      const code = describeField(value).replace(/(,[a-z0-9-]+(=[^,]*)?)+$/i, '')
      if (isFieldKnown(arg)) runCodeOf(invocation, [code])
      else frame.run.record.addOpaque('code', 'a part of the command of socat is not known', at)
    }
    if (/^(?:file|open|gopen|create|creat|pipe)$/i.test(kind)) {
      const field = exactField(describeField(value).replace(/,.*$/, ''))
      record('reads', { field, by: 'socat', at })
      if (!/rdonly/.test(address) && !/^file$/i.test(kind)) record('writes', { field, by: 'socat', at })
    }
  }
}

/** Options of ssh that run a command: `ProxyCommand`, `LocalCommand`, `KnownHostsCommand`, `RemoteCommand`. */
function runSshOptions({ program, frame, state }: Invocation, texts: readonly string[]): void {
  for (const text of texts) {
    const code = /^(?:-o)?\s*(?:proxy|local|remote|knownhosts)command\s*[= ]\s*(.+)/is.exec(text)?.[1]
    if (code !== undefined && code !== 'none')
      frame.run.runCode([code], childState(state), {
        ...viaStep(frame, `${program} ProxyCommand`),
        depth: frame.depth + 1,
      })
  }
}

function recordTypescript({ args, state, frame, at }: Invocation): void {
  const { operands, options } = parseOptions(args, optionsOf('script'))
  const [file] = operands
  if (!hasOption(options, 'O', 'I', 'B'))
    recordFile(state, frame)('writes', { field: file ?? exactField('typescript'), by: 'script', at })
}
