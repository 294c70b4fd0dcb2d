import { describeAbilities } from '../../agents/agent-abilities.ts'
import type { AgentAdapter } from '../../agents/agent-adapter.ts'
import type { AgentConfigFile, AgentHost } from '../../agents/agent-host.ts'
import type { FileChange } from '../../connect/connection.ts'
import { findConnections } from '../../connect/find-connections.ts'
import { type ConnectSettings, planHookCommands } from '../../connect/hook-command.ts'
import type { AgentSelection } from './agent-selection.ts'

/** A finished or simulated `connect` of one agent. */
export interface ConnectResult {
  readonly host: AgentHost
  readonly adapter: AgentAdapter
  readonly config: AgentConfigFile
  readonly settings: ConnectSettings
  readonly changes: readonly FileChange[]
}

/** The report of `connect` as data. */
export interface ConnectReport {
  readonly agent: string
  readonly level: string
  readonly file: string
  readonly changes: readonly FileChange[]
  readonly gates: readonly string[]
  readonly observed: readonly string[]
  readonly warnings: readonly string[]
}

export function reportOf(done: ConnectResult, selection: AgentSelection): ConnectReport {
  const { host, adapter, config, settings, changes } = done
  const commands = host.transport === 'command' ? planHookCommands(adapter, host, settings) : []
  const named = (wanted: boolean) =>
    commands.filter(({ isGate }) => isGate === wanted).map(({ event }) => event)
  return {
    agent: host.agent,
    level: config.level,
    file: config.file,
    changes,
    gates: named(true),
    observed: named(false),
    warnings: warningsOf(done, selection),
  }
}

/** The report as text: what is enforced, what cannot be, and what may stop the hooks from running. */
export function reportText({ adapter, settings }: ConnectResult, report: ConnectReport): string {
  const { file, changes, gates, observed, warnings } = report
  const { can, cannot } = describeAbilities(adapter)
  const state = changes.length === 0 ? 'is connected already' : 'is connected'
  const written = changes.length === 0 ? [file] : changes.map(({ path }) => path)
  const failure = settings.failOpen ? '' : ' (blocked when the gateway does not answer)'
  return [
    `${adapter.title} ${state}: ${written.join(', ')}`,
    ...(gates.length === 0 ? [] : [`  gates      ${gates.join(', ')}${failure}`]),
    ...(observed.length === 0 ? [] : [`  observed   ${summary(observed)}`]),
    `  can be     ${can.join(' · ') || 'nothing'}`,
    ...(cannot.length === 0 ? [] : [`  cannot be  ${cannot.join(' · ')}`]),
    ...warnings.map((warning) => `  ! ${warning}`),
  ].join('\n')
}

function warningsOf(
  { host, config, settings }: ConnectResult,
  { paths, dataFolder }: AgentSelection,
): string[] {
  const trust = host.trustNotice(config.level)
  const elsewhere = findConnections(paths, dataFolder, [host.agent]).connected.filter(
    ({ file }) => file !== config.file,
  )
  return [
    ...(settings.failOpen ? ['calls pass when the gateway does not answer (--fail-open)'] : []),
    ...(trust === undefined ? [] : [trust]),
    ...(config.level === 'project'
      ? ['This file contains paths of this machine, and projects usually share it.']
      : []),
    ...elsewhere.map(
      ({ level, file }) => `It is also connected at the level ${level} (${file}): every hook runs twice.`,
    ),
    ...host.findDisabled(paths, config).map(({ text, hint }) => `${text}. ${hint ?? ''}`),
  ]
}

function summary(events: readonly string[]): string {
  const shown = events.slice(0, 6).join(', ')
  return events.length > 6 ? `${shown} and ${events.length - 6} more` : shown
}

/** The changes as a unified diff. */
export function changesText(changes: readonly FileChange[]): string {
  if (changes.length === 0) return 'nothing would change'
  return changes
    .map(({ path, kind, diff }) =>
      [
        `--- ${kind === 'made' ? '/dev/null' : path}`,
        `+++ ${kind === 'removed' ? '/dev/null' : path}`,
        diff,
      ].join('\n'),
    )
    .join('\n')
}
