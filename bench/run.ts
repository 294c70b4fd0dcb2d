/** `npm run bench [group …]`: every figure as a ratio against a peer or a limit that is measured in the same run. */
import { type Figure, isMet, report } from './figure.ts'

/** The groups in the order in which they run; each loads only what it measures. */
const groups: Readonly<Record<string, () => Promise<Figure[]>>> = {
  dispatch: async () => (await import('./dispatch.ts')).dispatchFigures(),
  sync: async () => (await import('./sync.ts')).syncFigures(),
  match: async () => (await import('./match.ts')).matchFigures(),
  shell: async () => (await import('./shell.ts')).shellFigures(),
  door: async () => (await import('./door.ts')).doorFigures(),
  start: async () => (await import('./start.ts')).startFigures(),
  command: async () => (await import('./command.ts')).commandFigures(),
  http: async () => (await import('./http.ts')).httpFigures(),
  reload: async () => (await import('./reload.ts')).reloadFigures(),
  route: async () => (await import('./gateway/route.ts')).routeFigures(),
  'many-hooks': async () => (await import('./gateway/many-hooks.ts')).manyHooksFigures(),
  store: async () => (await import('./gateway/store.ts')).storeFigures(),
  views: async () => (await import('./gateway/views.ts')).viewFigures(),
  runs: async () => (await import('./gateway/runs.ts')).runFigures(),
  neighbour: async () => (await import('./gateway/neighbour.ts')).neighbourFigures(),
  life: async () => (await import('./gateway/life.ts')).lifeFigures(),
  ui: async () => (await import('./ui/ui.ts')).uiFigures(),
  client: async () => (await import('./client.ts')).clientFigures(),
  approvals: async () => (await import('./gateway/approvals.ts')).approvalFigures(),
  rules: async () => (await import('./rules.ts')).ruleFigures(),
  'agent-session': async () => (await import('./agent-session.ts')).agentSessionFigures(),
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const unknown = words.find((word) => !Object.hasOwn(groups, word))
if (unknown !== undefined) {
  console.error(`there is no group ${unknown}; the groups are ${Object.keys(groups).join(', ')}`)
  process.exit(2)
}

const figures: Figure[] = []
for (const [name, measure] of Object.entries(groups))
  if (words.length === 0 || words.includes(name)) figures.push(...(await measure()))

if (process.argv.includes('--json')) {
  const judged = figures.map((figure) => ({ ...figure, met: isMet(figure) }))
  console.log(JSON.stringify(judged, null, 2))
} else {
  console.log(report(figures))
  const missed = figures.filter((figure) => !isMet(figure)).length
  console.log(
    `\n${figures.length - missed} of ${figures.length} met. Best batch of several rounds taken in turns.`,
  )
}
