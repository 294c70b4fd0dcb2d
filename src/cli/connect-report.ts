import type { AgentAdapter } from '../agents/agent.ts'
import { abilitiesOf } from '../connect/abilities.ts'
import { type ConnectSettings, plannedCalls } from '../connect/call-plan.ts'
import type { Change } from '../connect/connection.ts'
import type { Host, Place } from '../connect/host.ts'
import { connectedAgents } from '../connect/state.ts'
import type { Meant } from './agent-places.ts'

export interface Done {
  readonly host: Host
  readonly adapter: AgentAdapter
  readonly place: Place
  readonly settings: ConnectSettings
  readonly changes: readonly Change[]
}

/** What a connection means, as data. */
export interface ConnectReport {
  readonly agent: string
  readonly level: string
  readonly file: string
  readonly changes: readonly Change[]
  readonly gates: readonly string[]
  readonly observed: readonly string[]
  readonly warnings: readonly string[]
}

export function reportOf(done: Done, meant: Meant): ConnectReport {
  const { host, adapter, place, settings, changes } = done
  const calls = host.transport === 'command' ? plannedCalls(adapter, host, settings) : []
  const named = (wanted: boolean) => calls.filter(({ isGate }) => isGate === wanted).map(({ event }) => event)
  return {
    agent: host.agent,
    level: place.level,
    file: place.file,
    changes,
    gates: named(true),
    observed: named(false),
    warnings: warningsOf(done, meant),
  }
}

/** What is now enforced, what cannot be, and what may keep the hooks from running. */
export function reportText({ adapter, settings }: Done, report: ConnectReport): string {
  const { file, changes, gates, observed, warnings } = report
  const { can, cannot } = abilitiesOf(adapter)
  const state = changes.length === 0 ? 'is connected already' : 'is connected'
  const written = changes.length === 0 ? [file] : changes.map(({ path }) => path)
  const fate = settings.failOpen ? '' : ' (closed when nobody answers)'
  return [
    `${adapter.title} ${state}: ${written.join(', ')}`,
    ...(gates.length === 0 ? [] : [`  gates      ${gates.join(', ')}${fate}`]),
    ...(observed.length === 0 ? [] : [`  observed   ${summary(observed)}`]),
    `  can be     ${can.join(' · ') || 'nothing'}`,
    ...(cannot.length === 0 ? [] : [`  cannot be  ${cannot.join(' · ')}`]),
    ...warnings.map((warning) => `  ! ${warning}`),
  ].join('\n')
}

function warningsOf({ host, place, settings }: Done, { where, dataFolder }: Meant): string[] {
  const trust = host.trust(place.level)
  const elsewhere = connectedAgents(where, dataFolder, [host.agent]).connected.filter(
    ({ file }) => file !== place.file,
  )
  return [
    ...(settings.failOpen ? ['gates let calls pass when the gateway does not answer (--fail-open)'] : []),
    ...(trust === undefined ? [] : [trust]),
    ...(place.level === 'project'
      ? ['This file names paths of this machine, and is usually shared with others.']
      : []),
    ...elsewhere.map(
      ({ level, file }) =>
        `It is also connected at the level ${level} (${file}): every hook would run twice.`,
    ),
    ...host.switchedOff(where, place).map(({ text, hint }) => `${text}. ${hint ?? ''}`),
  ]
}

function summary(events: readonly string[]): string {
  const shown = events.slice(0, 6).join(', ')
  return events.length > 6 ? `${shown} and ${events.length - 6} more` : shown
}
