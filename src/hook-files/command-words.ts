import { basename, join } from 'node:path'

/** A word of a command that may name a file. */
export interface CommandWord {
  /** Relative to the directory of the command, unless it is absolute. */
  readonly path: string
  /** The command starts this file, or gives it to an interpreter: it must never be a file that nobody trusted. */
  readonly isProgram: boolean
}

const PROJECT = '\0project\0'
const projectVariable =
  /\$(?:\{[A-Z]+_PROJECT_DIR[^}]*\}|[A-Z]+_PROJECT_DIR\b)|\$\(git rev-parse --show-toplevel\)/g
const currentFolder = /\$(?:\{PWD\}|PWD\b)/g
const homeFolder = /\$(?:\{HOME\}|HOME\b)/g

const interpreters =
  /^(?:(?:ba|da|k|z|a|fi)?sh|node(?:js)?|deno|bunx?|tsx|ts-node|npx|pnpx|python[\d.]*|pypy[\d.]*|uv|ruby|perl|php|lua|Rscript|pwsh|osascript|source|\.)$/
/** Words after which a command begins. */
const leadingWords =
  /^(?:if|then|else|elif|do|while|until|!|\{|time|exec|command|builtin|env|sudo|nohup|nice|xargs)$/
const assignment = /^[A-Za-z_]\w*=/
const MAX_NESTING = 4

export interface CommandFolders {
  /** The folder that `$CLAUDE_PROJECT_DIR` and its kin mean. */
  readonly project: string
  readonly home: string
}

/** The words of a program and its arguments that may name files. */
export function execWords(exec: readonly string[], folders: CommandFolders): CommandWord[] {
  const simple = exec.map((text) => ({ text: markFolders(text, folders) }))
  return simpleCommandWords(simple, '').flatMap((word) => resolveWord(word, folders))
}

/**
 * The words of a shell line that may name files. It reads the line as a person skims it, not as a shell does: it sees
 * words in quotes and in nested commands, follows `cd`, and leaves out the targets of `>`. Words with other variables or
 * wildcards stay unknown.
 */
export function shellWords(line: string, folders: CommandFolders): CommandWord[] {
  return lineWords(markFolders(line, folders), 0).flatMap((word) => resolveWord(word, folders))
}

function markFolders(text: string, { home }: CommandFolders): string {
  return text
    .replace(projectVariable, PROJECT)
    .replace(currentFolder, '.')
    .replace(homeFolder, home)
    .replace(/(?<=^|\s)~(?=\/)/g, home)
}

function resolveWord({ path, isProgram }: CommandWord, { project }: CommandFolders): CommandWord[] {
  if (path === '' || /[$*?`\n]/.test(path)) return []
  return [{ path: path.replaceAll(PROJECT, project), isProgram }]
}

interface Token {
  readonly text: string
  readonly isOperator?: true
}

function lineWords(line: string, nesting: number): CommandWord[] {
  const words: CommandWord[] = []
  let simple: Token[] = []
  let folder = ''
  const end = () => {
    words.push(...simpleCommandWords(simple, folder))
    const [program, target] = simple
    if (program?.text === 'cd' && target !== undefined) folder = joinFolder(folder, target.text)
    simple = []
  }
  let isTarget = false
  for (const token of tokensOf(line)) {
    const { text, isOperator } = token
    if (isOperator) {
      if (text !== '>' && text !== '<') end()
      isTarget = text === '>'
      continue
    }
    // A file that a command only writes is not a part of it.
    if (!isTarget) simple.push(token)
    isTarget = false
    if (/\s/.test(text) && nesting < MAX_NESTING) words.push(...lineWords(text, nesting + 1))
  }
  end()
  return words
}

/** The words of one command without pipes and lists. */
function simpleCommandWords(tokens: readonly Token[], folder: string): CommandWord[] {
  const words: CommandWord[] = []
  const add = (path: string, isProgram: boolean) => words.push({ path: joinFolder(folder, path), isProgram })
  let expects: 'program' | 'script' | 'argument' = 'program'
  for (const { text } of tokens) {
    const value = text.slice(text.indexOf('=') + 1)
    if (expects === 'program' && (leadingWords.test(text) || assignment.test(text))) {
      if (assignment.test(text)) add(value, false)
      continue
    }
    const isScript = expects === 'script' && !text.startsWith('-') && /[./]/.test(text)
    add(text, (expects === 'program' && text.includes('/')) || isScript)
    if (value !== text) add(value, false)
    if (text.startsWith('@')) add(text.slice(1), false)
    if (expects === 'program') expects = interpreters.test(basename(text)) ? 'script' : 'argument'
    else if (isScript) expects = 'argument'
  }
  return words
}

function joinFolder(folder: string, path: string): string {
  if (folder === '' || path.startsWith('/') || path.startsWith(PROJECT)) return path
  return join(folder, path)
}

const operators = new Set([';', '&', '|', '(', ')', '<', '>', '`', '\n'])

/** Splits a line into words without their quotes, and operators. */
function tokensOf(line: string): Token[] {
  const tokens: Token[] = []
  let word: string | undefined
  let quote = ''
  const endWord = () => {
    if (word !== undefined) tokens.push({ text: word })
    word = undefined
  }
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (quote !== '') {
      if (character === quote) quote = ''
      else word += character
    } else if (character === "'" || character === '"') {
      quote = character
      word ??= ''
    } else if (character === '\\') {
      at++
      if (line.charAt(at) !== '\n') word = (word ?? '') + line.charAt(at)
    } else if (operators.has(character)) {
      endWord()
      tokens.push({ text: character, isOperator: true })
    } else if (/\s/.test(character)) endWord()
    else if (character === '#' && word === undefined) at = endOfLine(line, at)
    else word = (word ?? '') + character
  }
  endWord()
  return tokens
}

/** The position before the next line end. */
function endOfLine(line: string, from: number): number {
  const end = line.indexOf('\n', from)
  return (end === -1 ? line.length : end) - 1
}
