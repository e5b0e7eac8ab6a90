import { clip, cut, LIMITS } from '../../domain/text.ts'
import type { Phrases } from './phrases.ts'
import { isQuestion, stepsIn } from './split.ts'
import { asRecord, readable, textOf, wordsIn } from './tools.ts'

type Steps = readonly string[]

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

export function titlesIn(input: unknown): Steps {
  const { tasks, items, add, title } = asRecord(input)
  const rows: readonly unknown[] = [tasks, items, add].find(Array.isArray) ?? [{ title }]
  return rows.map(row => textOf(row) || textOf(asRecord(row)['title'])).filter(text => text !== '')
}

/** Works a wish into the plan. A wish that it cannot read becomes a step, unless the plan has changed anyway. */
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

/** Titles of the rows that a person kept, edited and added, if they changed any. */
function rowsIn(changes: unknown): Steps | undefined {
  const { kept, edited, added, removed } = asRecord(changes)
  const rows = (list: unknown): Readonly<Record<string, unknown>>[] => (Array.isArray(list) ? list.map(asRecord) : [])
  const now = [...rows(kept), ...rows(edited).map(({ to }) => asRecord(to)), ...rows(added)]
  const titles = now.map(({ title }) => textOf(title)).filter(title => title !== '')
  const isChanged = rows(edited).length + rows(added).length + rows(removed).length > 0
  return isChanged && titles.length > 0 ? titles : undefined
}

/** Comments by row title. Toolsets have their own names for the title field. */
function commentsIn(list: unknown): ReadonlyMap<string, string> {
  const entries = Array.isArray(list) ? list.map(asRecord) : []
  return new Map(
    entries.map(({ comment, id: _id, ...named }) => [Object.values(named).map(textOf).join(''), textOf(comment)]),
  )
}

function revised(steps: readonly string[], comment: string): readonly string[] | undefined {
  const wishes = stepsIn(comment)
  const added = wishes.flatMap(wish => ADD.exec(wish)?.[1] ?? []).map(capitalised)
  const removed = wishes.flatMap(wish => REMOVE.exec(wish)?.[1] ?? [])
  const after = [...steps.filter(step => !removed.some(wish => isNamed(step, wish))), ...added]
  return after.length === 0 || after.join('\n') === steps.join('\n') ? undefined : after
}

export const wishedInstead = (comment: string): string[] =>
  stepsIn(comment.replace(/,?\s*\binstead\b/gi, '')).filter(step => !NO.test(step) && !isQuestion(step))

const ADD = /^(?:also |please )*(?:add|include|insert|append|加上|加入|添加|增加)\s*(?:a step(?: to)?\s*:?\s*)?(.+)$/i
const REMOVE = /^(?:please )*(?:remove|drop|delete|skip|leave out|without|去掉|删除|删掉|不要)\s*(.+)$/i

/** Beginnings of a comment that says what is wrong rather than what to do. */
const NO =
  /^(?:no|nope|not|don't|do not|never|stop|too|only|just|fewer|less|wrong|wait|later|maybe|why|不|别|没|太)(?:\b|\p{Script=Han}|$)/iu

/** Whether the wish names the step, by a word or part of its title. */
function isNamed(step: string, wish: string): boolean {
  const words = wordsIn(wish)
  return step.includes(wish) || (words.length > 0 && words.every(word => wordsIn(step).includes(word)))
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
