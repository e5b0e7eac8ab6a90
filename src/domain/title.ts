import { projection } from './projection.ts'

/** A conversation's title: its first message, or the first task if one was proposed or made before. */
export const title = projection<string | null>({
  initial: null,
  on: {
    turn_started: (known, { data }) => known ?? oneLine(data.message),
    task_created: (known, { data }) => known ?? oneLine(data.task.title),
    task_create_review_required: (known, { data }) => known ?? oneLine(data.draft_tasks[0]?.title ?? ''),
  },
})

const MAX_CHARACTERS = 80

function oneLine(text: string): string {
  const plain = text.toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ')
  const characters = [...plain.trim()]
  if (characters.length <= MAX_CHARACTERS) return characters.join('')
  return `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}
