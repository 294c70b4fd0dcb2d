import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'

/**
 * Proves that a tool call belongs to a run. A runner hands the proof to the coding agent that it starts, whose hook client
 * sends it with every call. Nobody else can make one, for this run or another.
 */
export interface RunProofs {
  of(tenant: string, runId: string): string
  /** The run that the proof names. Throws `runs.unknown_run` if it proves nothing to this gateway. */
  read(tenant: string, proof: string): string
}

export function createRunProofs(secrets: Pick<Secrets, 'encrypt' | 'decrypt'>): RunProofs {
  const place = (tenant: string, run: string) => ({ table: 'runs', row: `${tenant} ${run}`, column: 'proof' })
  return {
    of: (tenant, run) => `${run}.${secrets.encrypt(run, place(tenant, run))}`,
    read(tenant, proof) {
      const [run = ''] = proof.split('.', 1)
      try {
        if (secrets.decrypt(proof.slice(run.length + 1), place(tenant, run)) === run) return run
      } catch {
        // Sealed by another gateway, for another run or tenant, or not sealed at all.
      }
      throw serverError('runs.unknown_run', 'the call comes from a run that this gateway did not start')
    },
  }
}
