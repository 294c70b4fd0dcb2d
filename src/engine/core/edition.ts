/** `lite` serves one person on their own machine, `standard` several tenants. */
export type Edition = 'lite' | 'standard'

/** A command runs as the gateway itself, so on a machine that tenants share nobody may configure one. */
export function runsCommands(edition: Edition): boolean {
  return edition === 'lite'
}
