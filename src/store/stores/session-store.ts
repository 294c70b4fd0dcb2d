export interface SessionStore {
  /**
   * Returns the folder in which a session began, and stores `folder` if the session is new. Undefined if both are unknown.
   * `session` is a digest: ids of agents may have any length.
   */
  keepSessionFolder(
    tenant: string,
    session: string,
    folder: string | undefined,
    now?: number,
  ): Promise<string | undefined>
}
