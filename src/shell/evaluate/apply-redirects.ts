import { expandWithoutSplitting, expandWord } from '../expand/expand-word.ts'
import {
  EMPTY_TEXT,
  exactField,
  knownText,
  type ShellText,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'
import type { Redirect } from '../parse/shell-syntax.ts'
import { expansionScope } from './expansion-scope.ts'
import { absolutePath, recordFile } from './resolve-path.ts'
import { fileText } from './script-content.ts'
import type { ShellFrame } from './shell-run.ts'
import { forkState, joinStates, type ShellOutcome, type ShellState, writeFileContent } from './shell-state.ts'

interface OutputFile {
  readonly path: string | undefined
  /** What the file has before: something only if the redirection appends. */
  readonly before: ShellText
}

/**
 * Records the files of redirections, and where input comes from and output goes to. Returns the frame in which the command runs, and
 * what sends its output to where the redirections say.
 */
export function applyRedirects(redirects: readonly Redirect[], state: ShellState, frame: ShellFrame) {
  let inside = frame
  let canFail = false
  const before = forkState(state)
  let output: OutputFile | 'lost' | undefined
  for (const redirect of redirects) {
    const { operator, descriptor } = redirect
    const isInput = operator.startsWith('<')
    const number = descriptor ?? (isInput ? '0' : '1')
    if (operator.startsWith('<<')) {
      const stdin = readHere(redirect, state, inside)
      if (number === '0') inside = withInput(inside, stdin)
      continue
    }
    const target = expandWithoutSplitting(redirect.target, expansionScope(state, frame))
    const copied = operator.endsWith('&') && /^(\d+-?|-|p)$/.test(knownText(target) ?? '')
    if (copied) {
      if (!isInput && number === '1') output = 'lost'
      // `0>&1` copies as `0<&1` does.
      if (number === '0') inside = { ...inside, stdin: unknownText(`<&${knownText(target)}`) }
      continue
    }
    if (frame.dialect === 'zsh') recordEach(redirect, state, frame)
    const { files } = state
    const path = recordRedirect(redirect, target, state, frame)
    canFail ||= path === undefined || !/^\/dev\/(?:null|stdin|stdout|stderr|tty)$/.test(path)
    if (operator === '<&' && number === '0') inside = { ...inside, stdin: unknownText('<&') }
    if (operator === '<' && number === '0') inside = withInput(inside, fileContent(target, path, state))
    if (!isInput && (number === '1' || operator.startsWith('&')))
      output = {
        path,
        before: operator.includes('>>') ? (files.get(path ?? '') ?? unknownText('>>')) : EMPTY_TEXT,
      }
  }
  return {
    frame: inside,
    finish(ended: ShellOutcome): ShellOutcome {
      const outcome = canFail ? orNotRun(ended, before) : ended
      if (output === undefined) return outcome
      const redirected = redirectOutput(outcome, output)
      // zsh writes to the file and to the pipe.
      return frame.isPiped ? { ...redirected, stdout: outcome.stdout } : redirected
    },
  }
}

/** A command whose file cannot be opened does not run, so what it changes in the shell may be as before. */
function orNotRun(outcome: ShellOutcome, before: ShellState): ShellOutcome {
  const fail = [...outcome.fail, ...outcome.ok.map(({ files }) => ({ ...before, files }))]
  const isUnchanged =
    outcome.ok.length === 1 && outcome.ok[0] === outcome.fail[0] && joinStates(fail).length === 1
  return isUnchanged ? outcome : { ...outcome, fail: joinStates(fail) }
}

/** zsh reads all inputs of a command, one after the other; other shells read the last one. */
function withInput(frame: ShellFrame, stdin: ShellText): ShellFrame {
  const isRead = frame.dialect === 'zsh' && frame.hasOwnInput
  return { ...frame, stdin: isRead ? [...(frame.stdin ?? []), ...stdin] : stdin, hasOwnInput: true }
}

function readHere({ operator, target, body }: Redirect, state: ShellState, frame: ShellFrame): ShellText {
  const scope = expansionScope(state, frame)
  if (operator === '<<<') return [...expandWithoutSplitting(target, scope), '\n']
  return body ? expandWithoutSplitting(body, scope) : EMPTY_TEXT
}

/** zsh expands the braces of a target, and writes to every file. */
function recordEach({ operator, target, at }: Redirect, state: ShellState, frame: ShellFrame): void {
  const hasBrace = target.parts.some(
    (part) => part.kind === 'text' && !part.quoted && part.text.includes('{'),
  )
  if (!hasBrace) return
  const kind = operator.startsWith('<') ? 'reads' : 'writes'
  for (const field of expandWord(target, expansionScope(state, frame)))
    recordFile(state, frame)(kind, { field, by: operator, at: frame.at ?? at })
}

/** Records the file and returns its path if it is certain. */
function recordRedirect(
  { operator, at: offset, target: word }: Redirect,
  target: ShellText,
  state: ShellState,
  frame: ShellFrame,
) {
  const at = frame.at ?? offset
  const isPattern = word.parts.some((part) => part.kind === 'text' && !part.quoted && /[*?[]/.test(part.text))
  const field: WordField = target.map((value) => ({ value, quoted: !isPattern }))
  const network = /^\/dev\/(?:tcp|udp)\/([^/]+)\//.exec(knownText(target) ?? '')
  if (network) {
    frame.run.record.addHost({ host: network[1] ?? '', certainty: 'exact', by: operator, at })
    return undefined
  }
  // The file of a process substitution is a pipe.
  if (target.some((piece) => typeof piece !== 'string' && piece.file !== undefined)) return undefined
  const record = recordFile(state, frame)
  if (operator === '<' || operator === '<&' || operator === '<>') record('reads', { field, by: operator, at })
  if (operator.includes('>')) record('writes', { field, by: operator, at })
  const known = isPattern ? undefined : knownText(target)
  return known === undefined ? undefined : absolutePath(known, state.cwd)
}

/** What a command reads from a file: the content if it is known, or the file to look into. */
function fileContent(target: ShellText, path: string | undefined, state: ShellState): ShellText {
  const [only] = target
  const file = path ?? (typeof only === 'object' ? only.file : undefined)
  if (file === undefined) return unknownText('<')
  if (file === '/dev/null') return EMPTY_TEXT
  return fileText(exactField(file), state) ?? unknownText('<')
}

function redirectOutput({ ok, fail, stdout }: ShellOutcome, output: OutputFile | 'lost'): ShellOutcome {
  if (output === 'lost') return { ok, fail, stdout: EMPTY_TEXT }
  const { path, before } = output
  if (path === undefined) return { ok, fail, stdout: EMPTY_TEXT }
  if (path === '/dev/stdout') return { ok, fail, stdout }
  const written = (state: ShellState): ShellState => {
    const after = forkState(state)
    writeFileContent(after, path, [...before, ...stdout])
    return after
  }
  const same = ok.length === 1 && fail.length === 1 && ok[0] === fail[0]
  const okAfter = ok.map(written)
  return { ok: okAfter, fail: same ? okAfter : fail.map(written), stdout: EMPTY_TEXT }
}
