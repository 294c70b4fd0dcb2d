/** Joins the behaviour ids with the tests that name them. `--check` compares and refuses instead of writing. */
import { globSync } from 'node:fs'
import { conformancePage } from './conformance/conformance-page.ts'
import { type Behaviour, readSections, readThreats } from './conformance/data.ts'
import { type Joined, joinBehaviours, joinThreats, type Status, unknownIds } from './conformance/join.ts'
import { report, settlePage } from './page.ts'
import { readTestRun, type TestRun } from './test-results.ts'

type Behaviours = ReadonlyMap<string, Joined<Behaviour>>

/** Sections that are done: nothing in them may be open. */
const finished = ['D1', 'D2', 'D3', 'D4']
/** Sections of which what the seed text itself says is done. */
const textFinished = [
  'B1',
  'B2',
  'B3',
  'B4',
  'B5',
  'B6',
  'B7',
  'B8',
  'C1',
  'C2',
  'C3',
  'C4',
  'C5',
  'C6',
  'C7',
  'C8',
  'C9',
  'C10',
  'C11',
  'C12',
  'C13',
  'C14',
  'C15',
  'C16',
]

const check = process.argv.includes('--check')
const run = readTestRun()
if (run === undefined) report(['no test results: run `npm test` first'], '')
else settle(run)

function settle(run: TestRun): void {
  const sections = readSections()
  const threats = readThreats()
  const behaviours = joinBehaviours(sections, run.tests)
  const page = conformancePage({ sections, behaviours, threats: joinThreats(threats, run.tests) })
  const stale = settlePage(page, check)
  const known = new Set([...behaviours.keys(), ...threats.map((threat) => threat.id)])
  const problems = [
    ...untestedFiles(run),
    ...unknownIds(known, run.tests),
    ...openButFinished(behaviours),
    ...(stale === undefined ? [] : [stale]),
  ]
  report(check ? problems : [], `conformance: ${countByStatus(behaviours)}`)
}

function openButFinished(behaviours: Behaviours): string[] {
  return [...behaviours.values()]
    .filter(({ row, status }) => status === 'open' && isFinished(row))
    .map(({ row }) => `${row.id} is open, but section ${row.section} is finished: ${row.says}`)
}

function isFinished({ section, by }: Behaviour): boolean {
  return finished.includes(section) || (textFinished.includes(section) && by.includes('S'))
}

function countByStatus(behaviours: Behaviours): string {
  const count = (status: Status) => [...behaviours.values()].filter((each) => each.status === status).length
  return `${count('proved')} proved, ${count('ruled otherwise')} ruled otherwise, ${count('open')} open`
}

/** Results of another tree would prove nothing about this one. */
function untestedFiles(run: TestRun): string[] {
  const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'])
  return files
    .filter((file) => !run.files.includes(file))
    .map((file) => `${file} is not in the test results: run \`npm test\` again`)
}
