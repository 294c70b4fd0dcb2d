/** Joins the behaviour ids with the tests that name them. `--check` compares and refuses instead of writing. */
import { globSync } from 'node:fs'
import { conformancePage } from './conformance/conformance-page.ts'
import { readSections, readThreats } from './conformance/data.ts'
import { unfinishedRows } from './conformance/finished-sections.ts'
import {
  type Joined,
  type JoinedBehaviours,
  joinBehaviours,
  joinThreats,
  type Status,
  unknownIds,
} from './conformance/join.ts'
import { report, settlePage } from './page.ts'
import { readTestRun, type TestRun } from './test-results.ts'

const check = process.argv.includes('--check')
const run = readTestRun()
if (run === undefined) report(['no test results: run `npm test` and `npm run test:long` first'], '')
else settle(run)

function settle(run: TestRun): void {
  const sections = readSections()
  const threats = readThreats()
  const behaviours = joinBehaviours(sections, run.tests)
  const joinedThreats = joinThreats(threats, run.tests)
  const page = conformancePage({ sections, behaviours, threats: joinedThreats })
  const stale = settlePage(page, check)
  const known = new Set([...behaviours.keys(), ...threats.map((threat) => threat.id)])
  const problems = [
    ...untestedFiles(run),
    ...unknownIds(known, run.tests),
    ...unfinishedRows(behaviours),
    ...onlyLong([...behaviours.values(), ...joinedThreats]),
    ...(stale === undefined ? [] : [stale]),
  ]
  report(check ? problems : [], `conformance: ${countByStatus(behaviours)}`)
}

function countByStatus(behaviours: JoinedBehaviours): string {
  const count = (status: Status) => [...behaviours.values()].filter((each) => each.status === status).length
  return `${count('proved')} proved, ${count('partly')} partly, ${count('ruled otherwise')} ruled otherwise, ${count('open')} open`
}

/** Who changes what a row promises learns it from `npm test`. */
function onlyLong(rows: readonly Joined<{ readonly id: string }>[]): string[] {
  return rows
    .filter(({ proofs }) => proofs.length > 0 && proofs.every(({ file }) => file.endsWith('.long.test.ts')))
    .map(({ row }) => `${row.id} is proved by long tests only: \`npm test\` must prove it too`)
}

/** Results of another tree would prove nothing about this one. */
function untestedFiles(run: TestRun): string[] {
  const files = globSync('{src,test}/**/*.test.ts', { exclude: ['**/*.release.test.ts'] })
  return files
    .filter((file) => !run.files.includes(file))
    .map((file) => `${file} is not in the test results: run \`npm test\` and \`npm run test:long\` again`)
}
