import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { readState, textOf } from '../files/config-file.ts'
import type { Environment, Finding } from '../host.ts'
import { nodeValue, readConfigText, withoutMark } from '../text/config-text.ts'

/** A variable that names a folder, or one below the user's own. */
export function folderOf(env: Environment, variable: string, ...below: readonly string[]): string {
  const named = env[variable]
  return named !== undefined && isAbsolute(named) ? named : underHome(env, ...below)
}

export function underHome(env: Environment, ...below: readonly string[]): string {
  const home = env.HOME
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), ...below)
}

/** What another file of the agent says, for questions that a missing or broken one cannot answer. */
export function settingsIn(path: string): Readonly<Record<string, unknown>> {
  try {
    const state = readState(path)
    if (state === undefined) return {}
    const { root } = readConfigText(withoutMark(textOf(path, state)).text, path)
    const value = root === undefined ? {} : nodeValue(root)
    return isPlain(value) ? value : {}
  } catch {
    return {}
  }
}

export function textIn(path: string): string {
  try {
    const state = readState(path)
    return state === undefined ? '' : textOf(path, state)
  } catch {
    return ''
  }
}

/** The value under a path of keys. */
export function under(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((at, key) => (isPlain(at) ? at[key] : undefined), value)
}

export function textsUnder(value: unknown, ...keys: readonly string[]): readonly string[] {
  const found = under(value, ...keys)
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : []
}

export const off = (text: string, hint: string): Finding => ({ state: 'bad', text, hint })

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
