import type { StoredEvent } from './event.ts'
import { projection } from './projection.ts'
import { cut } from './text.ts'

/**
 * A conversation's title: what a person or a model named it, else its first message or first task, whichever came first.
 * Where a program elsewhere opened it, its name and folder come before: "Claude Code · website · Collect the figures".
 */
export const title = projection<string | null>({
  initial: null,
  on: {
    turn_opened: (known, { data }) => known ?? opening(data.client),
    turn_started: (known, { data }) => named(known, data.message),
    task_created: (known, { data }) => named(known, data.task.title),
    task_create_review_required: (known, { data }) => named(known, data.draft_tasks[0]?.title ?? ''),
    title_set: (_, { data }) => data.title,
  },
})

/** The title that these events give a conversation without one, which `client` opened; null if they do not name it. */
export function titleGiven(client: string | undefined, events: readonly StoredEvent[]): string | null {
  const given = events.reduce(title.apply, opening(client))
  return given?.endsWith(OPEN) ? null : given
}

/** The name that these events give a conversation in place of any other; null if they do not. */
export const nameGiven = (events: readonly StoredEvent[]): string | null =>
  events.findLast((event): event is StoredEvent<'title_set'> => event.type === 'title_set')?.data.title ?? null

const MAX_CHARACTERS = 80

/** Ends a title whose words are still to come. No other title ends so: `oneLine` leaves no such space. */
const OPEN = '\u00a0·'

const opening = (client = ''): string | null => (oneLine(client) === '' ? null : `${oneLine(client)}${OPEN}`)

function named(known: string | null, text: string): string {
  if (known === null) return oneLine(text)
  return known.endsWith(OPEN) ? `${known.slice(0, -OPEN.length)} · ${oneLine(text)}` : known
}

const oneLine = (text: string): string =>
  cut(
    text
      .toWellFormed()
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    MAX_CHARACTERS,
  )
