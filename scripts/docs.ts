/** Writes the generated pages of docs/ and the published schema. `--check` compares and fails instead. */
import { agentsPage } from './docs/agents-page.ts'
import { cliPage } from './docs/cli-page.ts'
import { configSchema } from './docs/config-schema.ts'
import { errorsPage } from './docs/errors-page.ts'
import { eventsPage } from './docs/events-page.ts'
import { handlerPages } from './docs/handlers-pages.ts'
import { hookFilesPage } from './docs/hook-files-page.ts'
import { hooksSchema } from './docs/hooks-schema.ts'
import { packsPage } from './docs/packs-page.ts'
import { report, settlePage } from './page.ts'
import { readTestRun } from './test-results.ts'

const check = process.argv.includes('--check')
const pages = [
  errorsPage(),
  eventsPage(),
  hookFilesPage(),
  cliPage(),
  packsPage(),
  agentsPage(),
  ...handlerPages(),
  hooksSchema(),
  configSchema(),
]
const problems = pages.map((page) => settlePage(page, check))
report(
  problems.filter((problem) => problem !== undefined),
  'docs: the reference pages are up to date',
)

// The conformance page needs a test run; its own check stands beside this one.
if (!check && readTestRun() !== undefined) await import('./conformance.ts')
