import type { Figure } from '../figure.ts'
import { firstLoadFigures } from './first-load.ts'
import { liveStreamFigures } from './live-stream.ts'
import { scrollFigures } from './scroll-rows.ts'
import { openWebApp } from './web-app.ts'

/** The web app in a real browser, against a gateway of its own. */
export async function uiFigures(): Promise<Figure[]> {
  const app = await openWebApp()
  try {
    return [
      ...(await firstLoadFigures(app)),
      ...(await liveStreamFigures(app)),
      ...(await scrollFigures(app)),
    ]
  } finally {
    await app.close()
  }
}
