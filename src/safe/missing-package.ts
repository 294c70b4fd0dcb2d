/** Whether an import failed because an optional package is not installed. */
export function isMissingPackage(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND'
}
