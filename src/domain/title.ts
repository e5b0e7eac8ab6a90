import type { StoredEvent } from './event.ts'

/** The first message, or before there is one the first task, proposed or made: only ever used where there is no title. */
export function titleIn(events: readonly StoredEvent[]): string | null {
  for (const event of events) {
    if (event.type === 'turn_started') return shortened(event.data.message)
    if (event.type === 'task_created') return shortened(event.data.task.title)
    if (event.type === 'task_create_review_required') return shortened(event.data.draft_tasks[0]?.title ?? '')
  }
  return null
}

function shortened(text: string): string {
  const line = [
    ...text
      .toWellFormed()
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
  ]
  return line.length > 80 ? `${line.slice(0, 79).join('')}…` : line.join('')
}
