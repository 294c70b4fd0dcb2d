import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type GatewayOptions, openGateway, type RunningGateway } from '../../src/app/gateway/open-gateway.ts'
import { type FakeRequest, type Step, startFake } from './fake-servers/all.mjs'
import type { Recipe, Stage } from './recipe.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

type Functions = NonNullable<Parameters<typeof openGateway>[0]>['functions']
export type HookFunction = NonNullable<Functions>[string]

/** A hook of the stage: the event, and the function that answers. */
export interface StageHook {
  readonly event: string
  readonly run: HookFunction
  readonly options?: Readonly<Record<string, unknown>>
}

/** One run of an agent with everything around it: a home, a project, a model, a gateway. */
export interface OpenStage extends Stage {
  readonly requests: readonly FakeRequest[]
  readonly hookhelmHome: string
  /** Called when the model is asked, before it answers. */
  onModel(listener: () => Promise<void>): void
  /** Starts the gateway with these hooks. */
  up(hooks?: readonly StageHook[], settings?: GatewayOptions['settings']): Promise<RunningGateway>
  down(): Promise<void>
  connect(...options: readonly string[]): void
  /** Runs `hookhelm` in the project, and throws if it fails. */
  hookhelm(...args: readonly string[]): void
  /** Writes the user's own hook file. */
  writeUserHooks(text: string): void
  /** Writes the hook file of a folder, the project or another one, and trusts it. */
  trustHooks(folder: string, text: string): void
  /** Lets something that is no gateway listen on its socket; answers how to end it. */
  garbage(): Promise<() => Promise<void>>
  /** As if the client had been uninstalled. */
  loseClient(): void
  made(file: string): boolean
  spooled(): readonly string[]
  close(): Promise<void>
}

export async function openStage(
  recipe: Recipe,
  cli: string,
  commands: (stage: Stage) => readonly (string | Step)[],
): Promise<OpenStage> {
  const home = mkdtempSync(join(tmpdir(), `hookhelm-${recipe.name}-`))
  const project = join(home, 'project')
  const hookhelmHome = join(home, 'hookhelm')
  mkdirSync(project)
  mkdirSync(hookhelmHome, { mode: 0o700 })
  const requests: FakeRequest[] = []
  const steps: Step[] = []
  let listener: (() => Promise<void>) | undefined
  const { server, url } = await startFake(steps, async (request) => {
    requests.push(request)
    if (request.method === 'POST') await listener?.()
  })
  const stage: Stage = { home, project, url, cli }
  const wanted = commands(stage).map((step) => (typeof step === 'string' ? recipe.tool(step) : step))
  steps.push(...wanted, { text: 'All done.' })
  recipe.prepare(stage)
  const env = { PATH: process.env.PATH ?? '', HOME: home, HOOKHELM_HOME: hookhelmHome }
  const hookhelm = (...args: readonly string[]) => {
    const options = { env, cwd: project, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], options)
    if (status !== 0) throw new Error(`hookhelm ${args.join(' ')} failed: ${stdout}${stderr}`)
  }
  let gateway: RunningGateway | undefined
  const down = async () => {
    const closing = gateway
    gateway = undefined
    await closing?.close()
  }
  return {
    ...stage,
    requests,
    hookhelmHome,
    onModel: (told) => {
      listener = told
    },
    async up(hooks = [], settings = {}) {
      gateway = await openGateway({
        env,
        settings,
        listen: { host: '127.0.0.1', port: 0 },
        functions: Object.fromEntries(hooks.map(({ run }, index) => [`hook-${index}`, run])),
      })
      for (const [index, { event, options }] of hooks.entries())
        await makeHook(gateway, { event, config: { name: `hook-${index}` }, ...options })
      return gateway
    },
    down,
    connect: (...options) => hookhelm('connect', recipe.name, ...options),
    hookhelm,
    writeUserHooks: (text) => writeFileSync(join(hookhelmHome, 'hooks.yaml'), text, { mode: 0o600 }),
    trustHooks(folder, text) {
      const file = join(folder, '.hookhelm', 'hooks.yaml')
      mkdirSync(join(folder, '.git'), { recursive: true })
      mkdirSync(join(folder, '.hookhelm'), { recursive: true })
      writeFileSync(file, text)
      hookhelm('trust', file)
    },
    async garbage() {
      const folder = join(hookhelmHome, 'run')
      mkdirSync(folder, { mode: 0o700 })
      const server = createServer((socket) => {
        socket.on('error', () => {}).resume()
        socket.end('HTTP/1.1 200 OK\r\n\r\n{"id":1,"reply":')
      })
      await new Promise<void>((resolve) => server.listen(join(folder, 'gateway.sock'), resolve))
      return () => new Promise((resolve) => server.close(() => resolve()))
    },
    loseClient() {
      const path = join(home, recipe.config ?? '')
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('hookhelm-hook', 'is-gone/hookhelm-hook'))
    },
    made: (file) => existsSync(join(project, file)),
    spooled: () => {
      const folder = join(hookhelmHome, 'spool')
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
    },
    async close() {
      await down()
      await closeServer(server)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function makeHook({ url, token }: RunningGateway, definition: object): Promise<void> {
  const response = await fetch(`${url}/v1/hooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ handler_type: 'function', scope: 'tenant', ...definition }),
  })
  if (!response.ok) throw new Error(await response.text())
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
