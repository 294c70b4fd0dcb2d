/** Checks that imports inside src follow the arrows, and first that the check itself can see a wrong one. */
import { globSync } from 'node:fs'
import { type ArrowResult, arrowRules, followArrows } from './arrows/follow-arrows.ts'
import { missedPlants } from './arrows/missed-plants.ts'
import { strays } from './arrows/only-here.ts'
import { report } from './page.ts'

const files = globSync('src/**/*.ts')
const found = await followArrows(process.cwd())
report(
  [...(await missedPlants()), ...unseenFiles(found), ...homelessFiles(), ...found.violations, ...strays()],
  `arrows: ${found.modules.length} modules, none against the arrows`,
)

/** A parser that understands nothing finds no violation either. */
function unseenFiles({ modules }: ArrowResult): string[] {
  const seen = new Set(modules)
  return files.filter((file) => !seen.has(file)).map((file) => `${file} was not looked at`)
}

function homelessFiles(): string[] {
  const parts = arrowRules().map((path) => new RegExp(path))
  return files
    .filter((file) => !/\.test(-d)?\.ts$/.test(file) && !parts.some((part) => part.test(file)))
    .map((file) => `${file} belongs to no part: add its folder to the arrows in .dependency-cruiser.mjs`)
}
