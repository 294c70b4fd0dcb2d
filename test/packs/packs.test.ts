import { afterAll, describe, expect, test } from 'vitest'
import { localShell } from '../../src/app/local-shell.ts'
import { createHandlers } from '../../src/handlers/handlers.ts'
import { findPack, packNames, packTag, recommendedPacks } from '../../src/hook-files/packs/pack.ts'
import type { AnalyzeShell, Envelope, Hooks } from '../../src/index.ts'
import { createHooks } from '../../src/index.ts'
import type { ShellContext } from '../../src/shell/index.ts'
import { ordinaryAlarms, type PackCase, readOrdinaryCommands, readPackCases } from './pack-cases.ts'

const SLOW = { timeout: 120_000 }
const allCases = readPackCases()
const handlers = createHandlers({ models: { find: () => Promise.reject(new Error('no model')) } })
afterAll(() => handlers.dispose())

function hooksOf(packs: readonly string[], context: ShellContext = {}): Hooks {
  const shell: AnalyzeShell = (line, given) => localShell(line, { ...context, ...given })
  const hooks = createHooks({ handlers: handlers.handlers, shell })
  // A script that a busy machine starts late is not what these tests are about.
  for (const name of packs)
    for (const hook of findPack(name).hooks) hooks.add({ ...hook, timeout_ms: 60_000 })
  return hooks
}

/** What the hooks do with an event: `pass`, or the hook that stopped or changed it. */
async function outcomeOf(hooks: Hooks, { event, payload }: PackCase, place: Envelope): Promise<string> {
  const decision = await hooks.dispatch(event as 'pre_tool_use', payload as never, place)
  if (decision.code !== undefined) throw new Error(`${decision.code}: ${decision.reason}`)
  if (decision.opened !== undefined) throw new Error(JSON.stringify(decision.opened))
  if (decision.input !== undefined) return decision.steps?.[0]?.hook ?? 'changed'
  return decision.kind === 'allow' ? 'pass' : (decision.by ?? '')
}

async function wrongOutcomes(
  hooks: Hooks,
  cases: readonly PackCase[],
  place: Envelope = { cwd: '/srv/app' },
) {
  const outcomes = []
  for (const each of cases) outcomes.push({ ...each, outcome: await outcomeOf(hooks, each, place) })
  return {
    missed: outcomes
      .filter(({ mustCatch, outcome }) => mustCatch && outcome === 'pass')
      .map(({ label }) => label),
    alarmed: outcomes
      .filter(({ mustCatch, outcome }) => !mustCatch && outcome !== 'pass')
      .map(({ label, outcome }) => ({ label, outcome })),
  }
}

describe.each(allCases.map((cases) => [cases.pack, cases] as const))(
  '%s',
  (pack, { cases, missed, alarmed }) => {
    test(
      'catches what it must and leaves alone what it must, but for the cases that the docs count',
      SLOW,
      async () => {
        const wrong = await wrongOutcomes(hooksOf([pack]), cases)
        expect(wrong.missed.toSorted()).toEqual(missed.toSorted())
        expect(wrong.alarmed.map(({ label }) => label).toSorted(), JSON.stringify(wrong.alarmed)).toEqual(
          alarmed.toSorted(),
        )
      },
    )

    test('has at least 60 different cases, of both kinds', () => {
      expect(new Set(cases.map(({ label }) => label)).size).toBe(cases.length)
      expect(cases.length).toBeGreaterThanOrEqual(60)
      expect(cases.filter(({ mustCatch }) => mustCatch).length).toBeGreaterThanOrEqual(25)
      expect(cases.filter(({ mustCatch }) => !mustCatch).length).toBeGreaterThanOrEqual(25)
    })

    test('says of each hook what it is, why it objects, and which agentic risk it is about', () => {
      for (const { id, name, description, tags = [], config, handler_type } of findPack(pack).hooks) {
        expect(id).toMatch(new RegExp(`^${pack}/[a-z-]+$`))
        expect(name).toMatch(/^[A-Z]/)
        expect(description).toMatch(/^[A-Z].*\.$/)
        expect(tags).toContain(packTag(pack))
        expect(tags.filter((tag) => /^ASI(0[1-9]|10)$/.test(tag)).length).toBeGreaterThanOrEqual(1)
        if (handler_type === 'answer') expect(config).toMatchObject({ reason: expect.stringMatching(/\.$/) })
      }
    })
  },
)

/** Homes and projects that lie where packs let temporary files go. */
const places = [
  { home: '/tmp/ada', cwd: '/srv/app' },
  { home: '/var/tmp/ada', cwd: '/srv/app' },
  { home: '/tmp/ada', cwd: '/tmp/ada/work/app' },
] as const

describe.each(places)('with a home in $home and a project in $cwd', ({ home, cwd }) => {
  const inProject = ({ payload, ...rest }: PackCase): PackCase => ({
    ...rest,
    payload: JSON.parse(JSON.stringify(payload).replaceAll('/srv/app', cwd)) as PackCase['payload'],
  })
  test.each(recommendedPacks)('%s catches and leaves alone what it does elsewhere', SLOW, async (pack) => {
    const { cases, missed, alarmed } = allCases.find((each) => each.pack === pack) ?? allCases[0]!
    const wrong = await wrongOutcomes(hooksOf([pack], { home }), cases.map(inProject), { cwd })
    expect(wrong.missed.toSorted()).toEqual(missed.toSorted())
    expect(wrong.alarmed.map(({ label }) => label)).toEqual(alarmed)
  })
})

describe('below a folder for temporary files', () => {
  const place = { cwd: '/tmp/app/src', project: '/tmp/app' }
  const context = { home: '/home/ada', guarded: () => ['/tmp/disk', '/tmp/data/hookhelm'] }
  const hooks = hooksOf(['destructive-commands'], context)
  const stopped = async (command: string) => {
    const { kind } = await hooks.dispatch(
      'pre_tool_use',
      { tool_name: 'Bash', tool_input: { command } },
      place,
    )
    return kind !== 'allow'
  }

  test.each([
    '.',
    '..',
    '/tmp/app',
    '/tmp/*',
    '/tmp/a*',
    '/tmp/disk',
    '/tmp/disk/x',
    '/tmp/data',
    '/tmp/data/hookhelm/x',
  ])('the project, mounts and the data of the gateway stay guarded: rm -rf %s', async (path) =>
    expect(await stopped(`rm -rf ${path}`)).toBe(true),
  )

  test.each(['build', '../dist', '/tmp/app/dist', '/tmp/other', '/tmp/x*', '/var/tmp/x'])(
    'other files may go: rm -rf %s',
    async (path) => expect(await stopped(`rm -rf ${path}`)).toBe(false),
  )
})

describe('packs together', () => {
  const commands = readOrdinaryCommands()

  test('the recommended ones leave more than 200 ordinary commands of many stacks alone', SLOW, async () => {
    expect(new Set(commands.map(({ label }) => label)).size).toBeGreaterThanOrEqual(200)
    expect((await wrongOutcomes(hooksOf(recommendedPacks), commands)).alarmed).toEqual([])
  })

  test('all of them do, but for the commands that the docs count', SLOW, async () => {
    const { alarmed } = await wrongOutcomes(hooksOf(packNames()), commands)
    expect(
      alarmed.map(({ label }) => label),
      JSON.stringify(alarmed),
    ).toEqual(ordinaryAlarms)
  })

  test('every pack has cases', () => {
    expect(allCases.map(({ pack }) => pack)).toEqual(packNames())
  })
})
