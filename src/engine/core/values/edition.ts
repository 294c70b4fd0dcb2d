/** `lite` serves one person on their own machine, `standard` several tenants. */
export type Edition = 'lite' | 'standard'

/** Commands run as the user of the gateway, so an edition for several tenants must not run them. */
export function runsCommands(edition: Edition): boolean {
  return edition === 'lite'
}
