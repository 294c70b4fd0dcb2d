/**
 * Returns a function that does the work, one run at a time. A call during a run makes it run once more, because the run may
 * have looked before what the call is about. Resolves when nothing is left to do.
 */
export function rerun(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let again = false
  const runAll = async () => {
    try {
      do {
        again = false
        await work()
      } while (again)
    } finally {
      running = undefined
    }
  }
  return () => {
    again = true
    running ??= runAll()
    return running
  }
}
