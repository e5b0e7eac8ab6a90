import type { ServerNote } from './server-lock.ts'

const ANSWER_MS = 2_000

/** True if the server reports that its database was moved, deleted or replaced. */
export async function needsRestart({ local }: ServerNote): Promise<boolean> {
  try {
    const answer = await fetch(new URL('/readyz', local), { signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.status === 503 && (await answer.text()).includes('Restart the server')
  } catch {
    return false
  }
}
