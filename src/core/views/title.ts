import type { StoredEvent } from '../model/event.ts'
import { projection } from '../model/projection.ts'
import { cut } from '../model/text.ts'

/**
 * A conversation's title: the name given by a person or a model, else its first message or first task, whichever came
 * first. Prefixed with the program elsewhere that opened it and its folder: "Claude Code · website · Collect the
 * figures".
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

/** The title that these events give an untitled conversation opened by `client`; null if they do not name it. */
export function titleGiven(client: string | undefined, events: readonly StoredEvent[]): string | null {
  const given = events.reduce(title.apply, opening(client))
  return given?.endsWith(OPEN) ? null : given
}

/** The name that these events give a conversation in place of any other; null if they do not. */
export const nameGiven = (events: readonly StoredEvent[]): string | null =>
  events.findLast((event): event is StoredEvent<'title_set'> => event.type === 'title_set')?.data.title ?? null

const MAX_CHARACTERS = 80

/** Ends a title that is still incomplete. No other title ends like this: `oneLine` removes such spaces. */
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
