import { optionValues } from '../commands/parse-options.ts'
import type { ProgramCall } from '../commands/program-call.ts'
import { callsPrograms, runCodeOf } from '../commands/run-code.ts'
import { certainPath } from '../evaluate/resolve-path.ts'
import type { Invocation } from '../evaluate/shell-run.ts'
import {
  describeField,
  exactField,
  knownText,
  substitutedFile,
  type WordField,
} from '../expand/shell-text.ts'

/** A script of package.json that the line sets. */
export function runPackageScript(invocation: Invocation, texts: readonly string[]): void {
  const [command, action, ...settings] = texts.filter((text) => !text.startsWith('-'))
  if (command !== 'pkg' || action !== 'set') return
  for (const text of settings) {
    const code = /^scripts\.[^=]+=([\s\S]+)$/.exec(text)?.[1]
    if (code !== undefined) runCodeOf(invocation, [code])
  }
}

/** A file of rules that the line contains, or another shell for the rules. */
export function runRules(invocation: ProgramCall, texts: readonly string[]): void {
  const { program, frame, at, levels } = invocation
  const { options } = levels[0].parsed
  const readsLine = optionValues(options, 'f', 't').some(
    (file) =>
      /^(?:-|\/dev\/stdin|\/dev\/fd\/.*)$/.test(describeField(file)) || substitutedFile(file) !== undefined,
  )
  if (readsLine || texts.some((text) => /^(--eval|-E|SHELL=|--shell\b)/.test(text)))
    frame.run.record.addOpaque('inline-code', `${program} runs rules that the line contains`, at)
  else runRecipes(invocation, optionValues(options, 'f', 't'))
}

const ruleFiles = ['Makefile', 'makefile', 'GNUmakefile', 'justfile', 'Taskfile.yml', 'Taskfile.yaml']

/** The recipes of a file of rules that the line writes. Its own variables are unknown. */
function runRecipes(invocation: Invocation, named: readonly WordField[]): void {
  const { state } = invocation
  const files = named.length > 0 ? named : ruleFiles.map(exactField)
  for (const file of files) {
    const text = knownText(state.files.get(certainPath(file, state.cwd) ?? ''))
    const lines = /\.ya?ml$/.test(describeField(file))
      ? /^\s*(?:-\s+|cmds?:\s*(?=\S))(?:cmd:\s*)?(.*)$/gm
      : /^(?:\t| {2,})[@+-]*(.*)$/gm
    for (const [, recipe = ''] of text?.matchAll(lines) ?? []) {
      const pieces = recipe.replaceAll('$$', '\u0001').split(/(\$[({][^)}]*[)}]|\$.)/)
      runCodeOf(
        invocation,
        pieces.map((piece) => (piece.startsWith('$') ? { source: piece } : piece.replaceAll('\u0001', '$'))),
      )
    }
  }
}

/** `go run` and the like with sources that the line writes. */
export function runWrittenSources(invocation: Invocation, texts: readonly string[]): void {
  const { program, state, frame, at } = invocation
  const subcommand = texts.find((text) => !/^[-+]/.test(text)) ?? ''
  if (!/^(?:run|test|t|r|build|b|generate|bench)$/.test(subcommand)) return
  const remote = subcommand === 'run' ? texts.find((text) => /^[\w.-]+\/.*@[\w.-]+$/.test(text)) : undefined
  if (remote !== undefined) frame.run.record.addOpaque('program', `the program comes from ${remote}`, at)
  for (const [path, content] of state.files) {
    if (!path.endsWith(program === 'go' ? '.go' : '.rs')) continue
    const text = knownText(content) ?? ''
    if (callsPrograms(text))
      frame.run.record.addOpaque('inline-code', `${program} runs code that the line writes to ${path}`, at)
    for (const code of frame.run.commandsInCode(text)) runCodeOf(invocation, [code])
    if (subcommand !== 'generate') continue
    for (const [, code = ''] of text.matchAll(/^\/\/go:generate\s+(.*)$/gm)) runCodeOf(invocation, [code])
  }
}

/** `gcc -wrapper program,argument` runs the program in front of every part of the compiler. */
export function runCompilerWrapper(invocation: Invocation, texts: readonly string[]): void {
  const command = texts.includes('-wrapper') ? texts[texts.indexOf('-wrapper') + 1] : undefined
  if (command !== undefined) runCodeOf(invocation, [command.replaceAll(',', ' ')])
}

/** `mvn exec:exec -Dexec.executable=program -Dexec.args='arguments'` */
export function runMavenProgram(invocation: Invocation, texts: readonly string[]): void {
  const property = (name: string) => {
    const start = `-Dexec.${name}=`
    return texts.find((text) => text.startsWith(start))?.slice(start.length)
  }
  const program = property('executable')
  if (program !== undefined)
    runCodeOf(invocation, [`${program} ${property('args') ?? property('commandlineArgs') ?? ''}`])
}

/** `rpm --eval '%(code)'` */
export function runMacros(invocation: Invocation, texts: readonly string[]): void {
  for (const text of texts)
    for (const [, code = ''] of text.matchAll(/%\(([^)]*)\)/g)) runCodeOf(invocation, [code])
}
