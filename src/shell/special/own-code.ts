import type { OpaqueReason } from '../../engine/core/shell-effects.ts'
import { runScriptFile } from '../commands/interpreters.ts'
import { hasOption, optionValues, sliceField } from '../commands/parse-options.ts'
import type { ProgramCall } from '../commands/program-call.ts'
import { childState, runCodeOf } from '../commands/run-code.ts'
import { recordFile } from '../evaluate/resolve-path.ts'
import { type Invocation, insideStep } from '../evaluate/shell-run.ts'
import { forkState } from '../evaluate/shell-state.ts'
import { describeField, describeText, exactField, fieldText, isFieldKnown } from '../expand/shell-text.ts'

/** `less '+!code'` */
export function runPagerCommands(invocation: Invocation, texts: readonly string[]): void {
  for (const text of texts) if (/^\+!./.test(text)) runCodeOf(invocation, [text.slice(2)])
}

/** `screen -X stuff code` */
export function runScreenCommands(invocation: Invocation, texts: readonly string[]): void {
  if (texts.some((text) => /^-\w*X$/.test(text)) && texts.some((text) => /^(stuff|exec)$/.test(text)))
    runCodeOf(invocation, fieldText(invocation.args.at(-1) ?? []))
}

/** `deno task --eval code` */
export function runDenoTask(invocation: Invocation, texts: readonly string[]): void {
  if (texts[0] === 'task' && texts.includes('--eval'))
    runCodeOf(invocation, fieldText(invocation.args.at(-1) ?? []))
}

/** A program of which it is not known what it runs. */
export function marks(reason: OpaqueReason, detail: string): (call: Invocation) => void {
  return ({ frame, at }) => frame.run.record.addOpaque(reason, detail, at)
}

/** Commands of gdb with which it only looks at the program. */
const debuggerCommands =
  /^(?:run|r|start|bt|backtrace|where|info|continue|c|next|n|step|s|finish|quit|q|break|b|tbreak|watch|frame|f|up|down|list|l|disassemble|x\/|thread|set (?:args|pagination|confirm|width|height|breakpoint|print)|print|p|display)\b/

export function runDebugger(call: ProgramCall, texts: readonly string[]): void {
  const { args, state, frame, at, levels } = call
  if (texts.some((text) => /^(?:-x|--command)/.test(text)))
    frame.run.record.addOpaque('script', 'gdb runs a script that may run commands', at)
  for (const command of optionValues(levels[0].parsed.options, 'ex'))
    if (!isFieldKnown(command) || !debuggerCommands.test(describeField(command)))
      frame.run.record.addOpaque('inline-code', 'gdb runs commands that the line contains', at)
  const start = texts.indexOf('--args')
  if (start !== -1) frame.run.runWords(args.slice(start + 1), forkState(state), insideStep(frame, 'gdb'))
  runShellEscapes(call, texts)
}

const runShellEscapes = runEscapes({ code: /^\s*(?:!|shell\s)\s*(.+)/m })

/** A key or a hook of tmux gets a command of tmux as one word. */
export function runTmuxCommands(call: Invocation, texts: readonly string[]): void {
  for (const text of texts)
    if (
      /^(?:run|run-shell|if-shell|new-window|neww|split-window|splitw|display-popup|popup|respawn-pane|pipe-pane)\s/.test(
        text,
      )
    )
      runCodeOf(call, [`tmux ${text}`])
}

/** `rails runner` gets a file or code. */
export function runRailsRunner({ frame, at }: Invocation, texts: readonly string[]): void {
  const [, code] = texts.filter((text) => !text.startsWith('-'))
  if (/^(?:runner|r)$/.test(texts[0] ?? '') && code !== undefined && !/^[\w./-]+$/.test(code))
    frame.run.record.addOpaque('inline-code', 'rails runs code in ruby', at)
}

export function runEditor(invocation: Invocation, texts: readonly string[]): void {
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
export function runJob({ program, frame, state, at, levels }: ProgramCall): void {
  const { stdin, ...rest } = frame
  const inside = { ...insideStep(rest, program), at }
  const [file] = optionValues(levels[0].parsed.options, 'f')
  if (file) runScriptFile(file, childState(state), inside)
  else if (stdin !== undefined) frame.run.runCode(stdin, childState(state), inside)
}

/**
 * Clients of databases and file servers run shell code that an input or an argument has after an escape, and write or read the files
 * that commands of their own name.
 */
export function runEscapes(escapes: {
  readonly code: RegExp
  readonly writes?: RegExp
  readonly reads?: RegExp
}): (call: Invocation, texts: readonly string[]) => void {
  return (invocation, texts) => {
    const { program, frame, state, at } = invocation
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
}

/** `--bind 'key:execute(code)'` */
export function runBindings(call: ProgramCall): void {
  for (const binding of optionValues(call.levels[0].parsed.options, 'bind'))
    for (const [, code = ''] of describeField(binding).matchAll(
      /(?:execute[\w-]*|become|reload[\w-]*)[(:]([^)]*)/g,
    ))
      runCodeOf(call, [code])
}

/** `EXEC:program,options` and `SYSTEM:code,options` are addresses of socat; so are files. */
export function runSocat(invocation: Invocation): void {
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
export function runSshOptions({ program, frame, state }: Invocation, texts: readonly string[]): void {
  for (const text of texts) {
    const code = /^(?:-o)?\s*(?:proxy|local|remote|knownhosts)command\s*[= ]\s*(.+)/is.exec(text)?.[1]
    if (code !== undefined && code !== 'none')
      frame.run.runCode([code], childState(state), insideStep(frame, `${program} ProxyCommand`))
  }
}

export function recordTypescript({ state, frame, at, levels }: ProgramCall): void {
  const { operands, options } = levels[0].parsed
  const [file] = operands
  if (!hasOption(options, 'O', 'I', 'B'))
    recordFile(state, frame)('writes', { field: file ?? exactField('typescript'), by: 'script', at })
}
