import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { HostEnvironment } from '../agent-host.ts'
import { decodeConfig, nodeValue, parseConfig, readConfigState, splitByteOrderMark } from './read-config.ts'

/** The folder that a variable names, or else one below the user's home. */
export function folderFromEnv(env: HostEnvironment, variable: string, ...below: readonly string[]): string {
  const named = env[variable]
  return named !== undefined && isAbsolute(named) ? named : underHome(env, ...below)
}

export function underHome(env: HostEnvironment, ...below: readonly string[]): string {
  const home = env.HOME
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), ...below)
}

/** The settings in a JSON file. A missing or broken file counts as empty. */
export function readSettings(path: string): Readonly<Record<string, unknown>> {
  try {
    const { root } = parseConfig(splitByteOrderMark(readTextOrEmpty(path)).text, path)
    const value = root === undefined ? {} : nodeValue(root)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** The text of a file. A missing or unreadable file counts as empty. */
export function readTextOrEmpty(path: string): string {
  try {
    const state = readConfigState(path)
    return state === undefined ? '' : decodeConfig(path, state)
  } catch {
    return ''
  }
}

export function valueAtPath(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), value)
}

export function stringsAtPath(value: unknown, ...keys: readonly string[]): readonly string[] {
  const found = valueAtPath(value, ...keys)
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : []
}
