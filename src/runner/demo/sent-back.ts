import { clip, cut, LIMITS } from '../../domain/text.ts'
import type { Phrases } from './phrases.ts'
import { revised, wishedInstead } from './revise.ts'
import { asRecord, readable, textOf } from './values.ts'

type Steps = readonly string[]

/** The plan after a request for changes: the rows as the person left them, with what they asked for. */
export function revisedPlan(answer: Readonly<Record<string, unknown>>, proposed: Steps, phrases: Phrases): Steps {
  const sent = rowsIn(answer['changes'])
  const rows = sent ?? proposed
  const onRows = commentsIn(answer['row_comments'])
  const noted = rows.map(title => (onRows.has(title) ? cut(`${title} (${onRows.get(title)})`, LIMITS.title) : title))
  const isChanged = sent !== undefined || rows.some(title => onRows.has(title))
  const others = [...onRows].flatMap(([title, said]) => (rows.includes(title) ? [] : [said]))
  const wishes = [textOf(answer['comment']), ...others].filter(text => text !== '')
  return wishes.reduce<Steps>((steps, wish) => changed(steps, wish, phrases, isChanged), noted)
}

/** The plan in the message of a turn that changes one: see `messageFor` in `decide/reopened.ts`. */
export function planIn(request: string, phrases: Phrases): Steps | undefined {
  const { comment = '', rows } = CHANGE.exec(clip(request, LIMITS.message))?.groups ?? {}
  return rows === undefined ? undefined : changed(rows.slice('- '.length).split('\n- '), comment, phrases)
}

const CHANGE = /^Change the plan:\s(?<comment>[^]*?)\n(?:My version of it|The plan):\n(?<rows>- [^]*)$/

/** The titles in the arguments of a call that plans. */
export function titlesIn(input: unknown): Steps {
  const { tasks, items, add, title } = asRecord(input)
  const rows: readonly unknown[] = [tasks, items, add].find(Array.isArray) ?? [{ title }]
  return rows.map(row => textOf(row) || textOf(asRecord(row)['title'])).filter(text => text !== '')
}

/** The plan with a wish worked in. One that the demo model cannot read becomes a step, unless the plan has changed anyway. */
function changed(rows: Steps, comment: string, phrases: Phrases, isChanged = false): Steps {
  const wish = readable(comment)
  const after = revised(rows, wish)
  if (after) return after
  const instead = /\binstead\b|改成|改为/i.test(wish) ? wishedInstead(wish.replace(/改成|改为/, '')) : []
  if (instead.length > 0) return instead
  if (isChanged) return rows
  const step = cut(phrases.considered(wish.replaceAll(/\s+/g, ' ')), LIMITS.title)
  return [...rows.filter(title => title !== step).slice(0, LIMITS.batch - 1), step]
}

/** The titles of the rows that a person kept, edited and added, if they changed any. */
function rowsIn(changes: unknown): Steps | undefined {
  const { kept, edited, added, removed } = asRecord(changes)
  const rows = (list: unknown): Readonly<Record<string, unknown>>[] => (Array.isArray(list) ? list.map(asRecord) : [])
  const now = [...rows(kept), ...rows(edited).map(({ to }) => asRecord(to)), ...rows(added)]
  const titles = now.map(({ title }) => textOf(title)).filter(title => title !== '')
  const isChanged = rows(edited).length + rows(added).length + rows(removed).length > 0
  return isChanged && titles.length > 0 ? titles : undefined
}

/** Title to what the person said about its row. Toolsets have words of their own for a title. */
function commentsIn(list: unknown): ReadonlyMap<string, string> {
  const entries = Array.isArray(list) ? list.map(asRecord) : []
  return new Map(
    entries.map(({ comment, id: _id, ...named }) => [Object.values(named).map(textOf).join(''), textOf(comment)]),
  )
}
