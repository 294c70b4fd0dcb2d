import type { MemberRow } from './tenant-tables.ts'

/** The member that messages to this address, or to the team member of this name, reach. */
export function memberOf(members: readonly MemberRow[], recipient: string): MemberRow | undefined {
  const wanted = recipient.toLowerCase()
  return members.find(({ name, identities = [] }) =>
    [name, ...identities].some((identity) => identity.toLowerCase() === wanted),
  )
}

export function findMember(members: readonly MemberRow[], idOrName: string): MemberRow | undefined {
  return members.find(({ id, name }) => id === idOrName || name === idOrName)
}
