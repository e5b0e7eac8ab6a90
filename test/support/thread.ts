import { emptyConversation, fold } from '../../src/core/model/conversation.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import { snapshotOf } from '../../src/core/model/snapshot.ts'
import { type StepItem, type ThreadTurn, threadOf } from '../../src/core/views/thread.ts'
import { view } from '../../src/core/views/view.ts'

/** The thread of a log. */
export function threadIn(log: readonly StoredEvent[]): readonly ThreadTurn[] {
  const state = fold(emptyConversation(log[0]?.session_id ?? ''), log)
  return threadOf(snapshotOf(state), view.of(log))
}

/** A thread in short: a line for each item, those of a step behind it. */
export const told = (thread: readonly ThreadTurn[]): string[] => thread.flatMap(turnLines)

function turnLines({ turn_id, items, tally, end }: ThreadTurn): string[] {
  const lines = items.flatMap((item): string[] => {
    switch (item.kind) {
      case 'message':
        return [`${item.message.role}: ${short(item.message.text)}`, ...item.calls.map(call => `  uses ${call.tool}`)]
      case 'plan': {
        const { outcome, steps, edited, added, removed, comment } = item.card
        return [
          `plan ${outcome}: ${steps} steps, ${edited} edited, ${added} added, ${removed} removed${comment ? `: ${comment}` : ''}`,
        ]
      }
      case 'step':
        return [`step ${item.step.number} ${item.step.title} [${item.step.status}]`, ...item.step.items.map(stepLine)]
      case 'follow_ups':
        return [`followed up ${item.count} times, ${item.messages.length} answers`]
      case 'run':
        return [`run ${item.run.result}`]
    }
  })
  const counts = tally && ` ${tally.done} of ${tally.total} done, ${tally.blocked} blocked, ${tally.open} open`
  const ended = end ? `${end.status}${end.left ? `, ${end.left} left` : ''}` : 'goes on'
  return [`${turn_id}:`, ...lines, `${ended}${counts ?? ''}`]
}

function stepLine(item: StepItem): string {
  switch (item.kind) {
    case 'text':
      return `  says ${short(item.message.text)}`
    case 'call': {
      const { tool, answer } = item.call
      return `  uses ${tool}${answer ? ` ${answer.ok ? 'ok' : 'failed'}` : ''}`
    }
    case 'report':
      return `  reports ${item.tool} ${item.subject} ${item.ok ? 'ok' : 'failed'}`
    case 'claim':
      return `  claims ${item.status}: ${short(item.outcome)}: ${item.result ?? 'waits'}`
    case 'verdict':
      return `  judged ${item.verdict}: ${item.reason}`
    case 'run':
      return `  runs ${item.run.check?.kind ?? 'a check'} ${item.run.why} ${item.run.result} ${item.run.duration_ms} ms`
  }
}

const short = (text: string): string => {
  const [first = ''] = text.split('\n')
  return first.length > 60 ? `${first.slice(0, 60)}…` : first
}
