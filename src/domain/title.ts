import { projection } from './projection.ts'
import { cut } from './text.ts'

/** A conversation's title: its first message or first task, whichever came first. */
export const title = projection<string | null>({
  initial: null,
  on: {
    turn_started: (known, { data }) => known ?? oneLine(data.message),
    task_created: (known, { data }) => known ?? oneLine(data.task.title),
    task_create_review_required: (known, { data }) => known ?? oneLine(data.draft_tasks[0]?.title ?? ''),
  },
})

const MAX_CHARACTERS = 80

const oneLine = (text: string): string =>
  cut(
    text
      .toWellFormed()
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim(),
    MAX_CHARACTERS,
  )
