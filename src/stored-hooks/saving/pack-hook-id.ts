import { v5 } from 'uuid'

const NAMESPACE = '6e1b2f0c-52a7-5d7e-9a0b-3f0d6c1c7a41'

/** The stored id of a hook of a pack. Each tenant has hooks of its own, with the same ids in every database. */
export function packHookId(tenant: string, hookId: string): string {
  return v5(`${tenant}/${hookId}`, NAMESPACE)
}
