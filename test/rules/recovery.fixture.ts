import { expect } from 'vitest'
import type { Answer, Running } from '../gateway/running.fixture.ts'
import { runsOf } from '../runs/runs.fixture.ts'

type Fields = Readonly<Record<string, unknown>>

/** The API of recovery rules, as its callers use it. */
export function rulesOf(gateway: Pick<Running, 'call' | 'until'>) {
  const { ok } = runsOf(gateway)
  const firings = async (query = ''): Promise<Answer['body'][]> =>
    (await ok('GET', `/v1/rule-firings${query}`)).firings
  const isSettled = (list: readonly Answer['body'][]) =>
    list.every((firing) =>
      firing.actions.every(({ status }: { status: string }) => !['pending', 'started'].includes(status)),
    )
  return {
    ok,
    settings: (settings: Fields, scope = 'gateway') => ok('PATCH', '/v1/settings', { settings, scope }),
    switchOn: (more: Fields = {}) =>
      ok('PATCH', '/v1/settings', { settings: { rules_enabled: true, ...more }, scope: 'gateway' }),
    rule: (rule: Fields) => ok('POST', '/v1/rules', rule),
    team: (name: string, members: readonly Fields[]) => ok('POST', '/v1/teams', { name, members }),
    mailbox: async (query = ''): Promise<Answer['body'][]> =>
      (await ok('GET', `/v1/mailbox${query}`)).messages,
    firings,
    /** The firings when there are so many and all of their actions have ended. */
    settled: (count: number, query = '') =>
      gateway.until(
        () => firings(query),
        (list) => list.length >= count && isSettled(list),
      ),
    /** The audited executions of an event that recovery rules wrote. */
    audited: async (eventId: string): Promise<Answer['body'][]> => {
      const { executions } = await ok(
        'GET',
        `/v1/executions?eventId=${encodeURIComponent(eventId)}&limit=100`,
      )
      return executions.filter((row: Answer['body']) => row.metadata.rule_id !== undefined)
    },
    simulate: (params: Fields) => ok('POST', '/v1/rules/simulate', params),
  }
}

export const failedTool = { tool_name: 'Edit', tool_input: { file_path: 'a' }, error: 'permission denied' }

export function onlyActions(list: readonly Answer['body'][]): readonly Answer['body'][] {
  expect(list).toHaveLength(1)
  return list[0].actions
}
