import type { Result } from '../../gateway/call.ts'

/** The file of a hook, with its line. */
export function placeOf({ file = '', line }: Result<'hooks.effective'>['hooks'][number]['source']): string {
  return line === undefined ? file : `${file}:${line}`
}
