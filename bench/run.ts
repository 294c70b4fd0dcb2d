/** `npm run bench`: every figure as a ratio against a peer or a limit measured in the same run. */
import { agentSessionFigures } from './agent-session.ts'
import { clientFigures } from './client.ts'
import { commandFigures } from './command.ts'
import { dispatchFigures } from './dispatch.ts'
import { doorFigures } from './door.ts'
import { isMet, report } from './figure.ts'
import { lifeFigures } from './gateway/life.ts'
import { neighbourFigures } from './gateway/neighbour.ts'
import { routeFigures } from './gateway/route.ts'
import { storeFigures } from './gateway/store.ts'
import { httpFigures } from './http.ts'
import { matchFigures } from './match.ts'
import { reloadFigures } from './reload.ts'
import { startFigures } from './start.ts'
import { syncFigures } from './sync.ts'

const figures = [
  ...(await dispatchFigures()),
  ...(await syncFigures()),
  ...(await matchFigures()),
  ...(await doorFigures()),
  ...(await startFigures()),
  ...(await commandFigures()),
  ...(await httpFigures()),
  ...(await reloadFigures()),
  ...(await routeFigures()),
  ...(await storeFigures()),
  ...(await neighbourFigures()),
  ...(await lifeFigures()),
  ...(await clientFigures()),
  ...(await agentSessionFigures()),
]
if (process.argv.includes('--json')) {
  console.log(
    JSON.stringify(
      figures.map((figure) => ({ ...figure, met: isMet(figure) })),
      null,
      2,
    ),
  )
} else {
  console.log(report(figures))
  const missed = figures.filter((figure) => !isMet(figure)).length
  console.log(
    `\n${figures.length - missed} of ${figures.length} met. Best batch of several rounds taken in turns.`,
  )
}
