import { expect } from 'vitest'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { Ref, Store } from '../../src/store/store.ts'

/** The whole log of a conversation. */
export async function wholeLog(store: Pick<Store, 'eventsAfter'>, ref: Ref): Promise<StoredEvent[]> {
  const log: StoredEvent[] = []
  for (;;) {
    const page = await store.eventsAfter(ref, log.length, 5_000)
    if (page.length === 0) return log
    log.push(...page)
  }
}

/** Checks that every acknowledged write exists once, at its seq, and that the log has no gap. */
export function checkLedger(log: readonly StoredEvent[], acks: ReadonlyMap<number, number>): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  const written = new Map<number, number[]>()
  for (const event of log) {
    const number = writtenNumber(event)
    if (number !== undefined) written.set(number, [...(written.get(number) ?? []), event.seq])
  }
  const doubled = [...written].filter(([, seqs]) => seqs.length > 1)
  expect(doubled).toEqual([])
  const misplaced = [...acks].filter(([number, seq]) => written.get(number)?.[0] !== seq)
  expect(misplaced).toEqual([])
}

function writtenNumber(event: StoredEvent): number | undefined {
  if (event.type === 'message_added') return Number(event.data.text.slice(1))
  if (event.type === 'task_created') return Number(event.data.task.title.replace('task ', ''))
  return undefined
}
