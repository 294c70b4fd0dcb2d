import { describe, expect, test } from 'vitest'
import { runHookPointNames } from '../hooks/run-hook-points.ts'
import { loadNamedRunHooks, toStoredHooks } from '../hooks/run-hooks.ts'
import { checkParameters, readBlueprint, readRunHook } from './blueprint.ts'

const blueprint = { name: 'writer', type: 'procedural', executor: { command: ['cat'] } }
const hook = { type: 'agent', agent_name: 'checker', on_error: 'block' }
const http = { type: 'http', url: 'https://example.com/x', on_error: 'block' }
const withHooks = (hooks: unknown) => readBlueprint({ ...blueprint, hooks }, 'lite')
const refused = (at: string) => expect.objectContaining({ at })

describe('AO-1 the hooks of a blueprint', () => {
  test('are an object or an ordered list per point', () => {
    expect(withHooks({ on_run_start: hook }).blueprint.hooks).toEqual({ on_run_start: [hook] })
    const two = [hook, { $ref: 'named' }]
    expect(withHooks({ on_run_finish: two }).blueprint.hooks).toEqual({ on_run_finish: two })
  })

  test('AO-1 AO-60 stand at six points, as an object or a list', () => {
    const entries = [hook, [hook, http], { $ref: 'named' }]
    for (const point of runHookPointNames)
      for (const entry of entries)
        expect(withHooks({ [point]: entry }).blueprint.hooks).toEqual({ [point]: [entry].flat() })
    expect(runHookPointNames).toHaveLength(6)
  })

  test('AO-60 may be async everywhere but at on_run_start', () => {
    for (const point of runHookPointNames.filter((name) => name !== 'on_run_start'))
      expect(withHooks({ [point]: { ...http, mode: 'async' } }).blueprint.hooks).toHaveProperty(point)
  })

  test('AO-60 on_tool_call warns where no tool calls are seen', () => {
    expect(withHooks({ on_tool_call: hook }).warnings).toEqual([
      'hooks.on_tool_call never fires: a command makes no tool calls that Hookhelm sees',
    ])
  })

  test('AO-7 can be left out, null or empty', () => {
    for (const hooks of [undefined, null, {}, { on_run_start: null }])
      expect(withHooks(hooks).blueprint.hooks).toEqual({})
  })

  test.each([
    ['an unknown point', { on_run_strat: hook }, 'hooks.on_run_strat'],
    ['an unknown key of a hook', { on_run_start: { ...hook, agent: 'x' } }, 'hooks.on_run_start.agent'],
    ['AO-2 no type', { on_run_start: { agent_name: 'x', on_error: 'block' } }, 'hooks.on_run_start.type'],
    [
      'AO-2 no agent',
      { on_run_start: { type: 'agent', on_error: 'block' } },
      'hooks.on_run_start.agent_name',
    ],
    ['AO-3 no on_error', { on_run_start: { type: 'agent', agent_name: 'x' } }, 'hooks.on_run_start.on_error'],
    ['AO-4 no time', { on_run_start: { ...hook, timeout_seconds: 0 } }, 'hooks.on_run_start.timeout_seconds'],
    ['AO-60 a $ref with siblings', { on_run_start: { $ref: 'a', on_error: 'block' } }, 'hooks.on_run_start'],
    ['AO-60 an async gate', { on_run_start: { ...hook, mode: 'async' } }, 'hooks.on_run_start.mode'],
    ['AO-2 an unknown type', { on_result: { ...hook, type: 'mail' } }, 'hooks.on_result.type'],
    ['AO-59 an agent and an address', { on_error: { ...hook, url: 'https://a' } }, 'hooks.on_error.url'],
    ['AO-59 no address', { on_error: { type: 'http', on_error: 'block' } }, 'hooks.on_error.url'],
    ['AO-59 a bad address', { on_error: [{ ...http, url: 'ftp://a' }] }, 'hooks.on_error.0.url'],
    ['AO-59 a bad method', { on_error: { ...http, method: 'GET' } }, 'hooks.on_error.method'],
    [
      'AO-59 a header of ours',
      { on_error: { ...http, headers: { Host: 'a' } } },
      'hooks.on_error.headers.host',
    ],
  ])('are refused with %s', (_, hooks, at) => {
    expect(() => withHooks(hooks)).toThrow(refused(at))
  })
})

describe('a blueprint', () => {
  test('keeps keys that it does not know, with a warning', () => {
    const { warnings } = readBlueprint({ ...blueprint, colour: 'red' }, 'lite')
    expect(warnings).toEqual(['colour is kept and has no effect'])
  })

  test.each([
    ['without an executor', { executor: undefined }, 'executor'],
    ['with an unknown executor', { executor: { type: 'magic' } }, 'executor.type'],
    ['with a model that is procedural', { executor: { type: 'model' } }, 'executor.type'],
    ['with a coding agent that has no name', { executor: { type: 'cli' } }, 'executor.agent'],
    [
      'with a field of another executor',
      { executor: { command: ['a'], max_steps: 3 } },
      'executor.max_steps',
    ],
    ['with a command and a profile', { executor: { command: ['a'], profile: 'b' } }, 'executor.command'],
    [
      'with a tool that models do not get',
      { type: 'autonomous', executor: { type: 'model' }, tools: ['Teleport'] },
      'tools',
    ],
    [
      'with a variable of ours for a coding agent',
      { executor: { type: 'cli', agent: 'codex', allowed_env_vars: ['HOOKHELM_TOKEN'] } },
      'executor.allowed_env_vars',
    ],
    ['with an unknown type', { type: 'magic' }, 'type'],
    ['with a name that is a path', { name: '../x' }, 'name'],
    ['with a schema that cannot be compiled', { parameters_schema: { type: 'text' } }, 'parameters_schema'],
    ['with a pattern that RE2 refuses', { output_schema: { pattern: '(a)\\1' } }, 'output_schema'],
  ])('%s is refused', (_, change, at) => {
    expect(() => readBlueprint({ ...blueprint, ...change }, 'lite')).toThrow(refused(at))
  })

  test('may carry a command in the lite edition only', () => {
    expect(() => readBlueprint(blueprint, 'standard')).toThrow(
      expect.objectContaining({ code: 'handler.not_in_edition' }),
    )
    const profile = { ...blueprint, executor: { profile: 'words' } }
    expect(readBlueprint(profile, 'standard').blueprint.executor).toEqual({ profile: 'words' })
  })

  test('AO-10 names every problem of parameters, as JSON Schema 2020-12 understands them', () => {
    const parameters_schema = {
      type: 'object',
      required: ['id'],
      properties: { n: { type: 'integer' } },
      dependentRequired: { n: ['m'] },
    }
    expect(checkParameters({ parameters_schema }, { n: 'x' })).toEqual([
      { path: '', message: "must have required property 'id'", schema_path: '#/required' },
      { path: '/n', message: 'must be integer', schema_path: '#/properties/n/type' },
      {
        path: '',
        message: 'must have property m when property n is present',
        schema_path: '#/dependentRequired',
      },
    ])
    expect(checkParameters({ parameters_schema }, { id: 1 })).toEqual([])
  })
})

describe('run hooks are ordinary hooks', () => {
  const owner = { tenant: '0193a5b0-7000-7000-8000-0000000000aa', savedBy: 'me' }
  const named = new Map([['audit', readRunHook({ ...hook, on_error: 'ignore', timeout_seconds: 5 }, '')]])

  test('with their policy, their time and their order', () => {
    const { blueprint: read } = withHooks({ on_run_start: [hook, { ...hook, on_error: 'continue' }] })
    expect(toStoredHooks(read, named, owner)).toMatchObject([
      {
        event: 'run_start',
        handler_type: 'agent',
        on_error: 'block',
        on_timeout: 'block',
        timeout_ms: 300_000,
      },
      { event: 'run_start', on_error: 'allow', on_invalid: 'allow', priority: 999 },
    ])
  })

  test('AO-60 a reference takes the named hook, and an unknown one is refused', () => {
    const { blueprint: read } = withHooks({ on_run_finish: { $ref: 'audit' } })
    expect(toStoredHooks(read, named, owner)).toMatchObject([
      { event: 'run_finish', on_error: 'allow', timeout_ms: 5_000 },
    ])
    expect(() => toStoredHooks(read, new Map(), owner)).toThrow('there is no run hook "audit"')
  })

  test('keep their ids when the blueprint is saved again', async () => {
    const { blueprint: read } = withHooks({ on_run_start: hook })
    const [first] = toStoredHooks(read, named, owner)
    const [again] = toStoredHooks(read, named, owner)
    expect(again?.id).toBe(first?.id)
    const store = { listRunHooks: async () => [] }
    expect(await loadNamedRunHooks(store, owner.tenant)).toEqual(new Map())
  })
})
